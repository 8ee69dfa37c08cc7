#!/usr/bin/env python3
"""A kubectl for tests: its pods are processes of this machine, kept in the folder FAKE_KUBE. It knows what `truetail k8s run` asks
of kubectl, and refuses the rest. FAKE_DIES names indexes whose process is killed a second after it was told to begin."""

import base64, json, os, shutil, signal, subprocess, sys
from pathlib import Path

HOME = Path(os.environ["FAKE_KUBE"])
PROGRAM = os.environ["FAKE_PROGRAM"]
SUPERVISE = 'cd "$1"; (cd "$2"; shift 2; exec "$@") > log 2>&1; echo $? > code.new; mv code.new code'


def refuse(why):
    sys.exit(f"error: {why}")


def pods():
    return sorted(path for path in HOME.glob("*-pod-*") if path.is_dir())


def create():
    made = json.load(sys.stdin)
    create_secret(made) if made["kind"] == "Secret" else create_job(made)


def create_secret(secret):
    assert secret["immutable"] is True, secret
    path = HOME / f"secret-{secret['metadata']['name']}"
    if path.exists():
        refuse(f'secrets "{secret["metadata"]["name"]}" already exists')
    path.write_text(json.dumps(secret))


def mounted(job):
    """The folder with the files of the Secret that the pods name; they are the same in all of them."""
    volumes = job["spec"]["template"]["spec"].get("volumes", [])
    folder = HOME / f"files-{job['metadata']['name']}"
    folder.mkdir()
    for secret in (volume["secret"] for volume in volumes if "secret" in volume):
        data = json.loads((HOME / f"secret-{secret['secretName']}").read_text())["data"]
        for item in secret["items"]:
            path = folder / item["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(data[item["key"]]))
    return folder


def create_job(job):
    spec = job["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (job["kind"], spec["completionMode"], spec["backoffLimitPerIndex"]) == ("Job", "Indexed", 0), job
    name = job["metadata"]["name"]
    if (HOME / name).exists():
        refuse(f'jobs.batch "{name}" already exists')
    (HOME / name).write_text(json.dumps(job))
    files = mounted(job)
    for index in range(spec["completions"]):
        pod = HOME / f"{name}-pod-{index}"
        pod.mkdir()
        words = [word.replace("$(JOB_COMPLETION_INDEX)", str(index)).replace("$$", "$") for word in container["args"]]
        words = [word.replace("/run/truetail-files", str(files)).replace("/run/truetail", str(pod)) for word in words]
        process = subprocess.Popen(
            ["sh", "-c", SUPERVISE, "sh", pod, files if "workingDir" in container else pod, PROGRAM, *words],
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        (pod / "group").write_text(str(process.pid))


def get():
    items = []
    for pod in pods():
        index = pod.name.rsplit("-", 1)[1]
        ended = {"terminated": {"exitCode": int((pod / "code").read_text()), "reason": "Error"}} if (pod / "code").exists() else None
        items.append({
            "metadata": {"name": pod.name, "annotations": {"batch.kubernetes.io/job-completion-index": index}},
            "spec": {"nodeName": f"node{index}"},
            "status": {"phase": "Running", "containerStatuses": [{"name": "truetail", "state": ended or {"running": {}}}]},
        })
    print(json.dumps({"items": items}))


def logs(words):
    last = "--tail=1" in words
    chosen = pods() if "-l" in words else [HOME / words[0]]
    for pod in chosen:
        lines = (pod / "log").read_text().splitlines() if (pod / "log").exists() else []
        prefix = f"[pod/{pod.name}/truetail] " if "--prefix" in words else ""
        for line in lines[-1:] if last else lines:
            print(prefix + line)


def execute(words):
    pod = HOME / words[words.index("-i") + 1]
    index = pod.name.rsplit("-", 1)[1]
    if index in os.environ.get("FAKE_DIES", "").split(","):
        kill = f"sleep 1; kill -9 $(cat {pod}/start.pid)"
        subprocess.Popen(["sh", "-c", kill], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    inside = [word.replace("/run/truetail", str(pod)) for word in words[words.index("--") + 2 :]]
    os.execv(PROGRAM, [PROGRAM, *inside])


def delete(words):
    if words[0] == "secret":
        (HOME / f"secret-{words[1]}").unlink(missing_ok=True)
        return
    if words[0] == "job":
        (HOME / words[1]).unlink(missing_ok=True)
        shutil.rmtree(HOME / f"files-{words[1]}", ignore_errors=True)
    for pod in pods():
        try:
            os.killpg(int((pod / "group").read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass
        shutil.rmtree(pod, ignore_errors=True)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith(("--namespace=", "--context=", "--request-timeout="))]
    with (HOME / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    verb, *rest = words
    match verb:
        case "create" if rest == ["-f", "-"]:
            create()
        case "get" if rest[0] == "pods":
            get()
        case "logs":
            logs(rest)
        case "exec":
            execute(rest)
        case "delete" if rest[0] in ("job", "pods", "secret"):
            delete(rest)
        case _:
            refuse(f"this kubectl knows nothing of {words}")


main()
