#!/usr/bin/env python3
"""What `truetail k8s` does on a real Kubernetes: cases.py WORK [CASE…]. Called by cluster.sh, which sets KUBECONFIG; the program is
$TRUETAIL. The server stands on the bridge, outside the cluster, and its log is the truth."""

import datetime
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from stripes import BRIDGE, TRUETAIL, Server, balanced, each_once, flat, planned_per_second, sh  # noqa: E402

WORK = Path(sys.argv[1])
IMAGE = "localhost/truetail:here"
SHARDS = 3


def kubectl(*words, **more):
    return sh("kubectl", "-n", "load", *words, **more).stdout


def least_privileges():
    """The Role of the documents, and nothing else, for the user `loader`."""
    page = (ROOT / "docs/kubernetes.md").read_text()
    role = next(block for block in re.findall(r"```yaml\n(.*?)```", page, re.S) if "kind: Role\n" in block)
    sh("kubectl", "-n", "load", "apply", "-f", "-", input=role)
    name = re.search(r"name: (\S+)", role).group(1)
    kubectl("create", "rolebinding", "loader", f"--role={name}", "--user=loader")
    for words, may in [
        (("create", "jobs"), "yes"), (("delete", "jobs"), "yes"), (("get", "pods/log"), "yes"),
        (("patch", "jobs"), "no"), (("create", "pods"), "no"), (("get", "secrets"), "no"), (("list", "secrets"), "no"), (("list", "pods", "-n", "default"), "no"),
    ]:
        said = sh("kubectl", "-n", "load", "auth", "can-i", "--as=loader", *words, check=False).stdout.strip()
        assert said == may, f"loader {words}: {said}"


class Naming:
    """A server that knows each request by its path."""

    def __init__(self, port):
        self.paths = []
        paths = self.paths

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if "truetail-preflight" not in self.headers:
                    paths.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer((BRIDGE, port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://{BRIDGE}:{port}"

    def seen(self):
        self.server.shutdown()
        return self.paths


def answer_dns():
    """Every name has the address of the bridge, for as long as this process lives."""
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.bind((BRIDGE, 53))

    def serve():
        while True:
            query, client = port.recvfrom(512)
            question = query[12 : query.index(0, 12) + 5]
            is_address = question[-4:-2] == b"\0\1"
            record = b"\xc0\x0c\0\1\0\1" + (60).to_bytes(4, "big") + b"\0\4" + socket.inet_aton(BRIDGE)
            head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_address else b"\0\0") + b"\0\0\0\0"
            port.sendto(head + question + (record if is_address else b""), client)

    threading.Thread(target=serve, daemon=True).start()


def processes(*words):
    """The processes of this machine and its nodes with all these in their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(word in line for word in words):
            found.append(int(folder.name))
    return found


def send(name, *words):
    """The signal to all of these processes, of which there is at least one."""
    found = processes(*words)
    assert found, f"no process with {words}"
    for process in found:
        os.kill(process, name)


def node_of(pod):
    return pod["spec"]["nodeName"]


def stripe_of(pod):
    return int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]) + 1


def pods(*words):
    return json.loads(kubectl("get", "pods", *words, "-o", "json"))["items"]


class Load:
    """`truetail k8s run` as the user `loader`."""

    def __init__(self, case, server, *more):
        self.out = WORK / f"run-{case}"
        words = [TRUETAIL, "k8s", "run", *([server.url] if server else []), "--shards", SHARDS, "--image", IMAGE, "--namespace", "load", "--cpu", "100m"]
        words += ["--memory", "128Mi", "--name", case, "--out", self.out, "--drain", "5s", *more]
        self.log = open(WORK / f"log/case-{case}", "w+")
        self.process = subprocess.Popen(
            [str(word) for word in words], env={**os.environ, "KUBECONFIG": str(WORK / "loader")},
            stdout=self.log, stderr=self.log, start_new_session=True,
        )

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for(self, text, limit=90):
        until = time.monotonic() + limit
        while text not in self.said():
            assert time.monotonic() < until and self.process.poll() is None, f"no '{text}' in\n{self.said()}"
            time.sleep(0.1)

    def end(self, limit=150):
        self.process.wait(limit)
        return self.process.returncode

    def run(self):
        assert (self.out / "run.json").exists(), self.said()
        return json.loads((self.out / "run.json").read_text())


def nothing_left(within=10):
    """No Job, no pod, and no process of one; what was told to end may take a moment."""
    until = time.monotonic() + within
    while left := kubectl("get", "jobs,pods,secrets", "-o", "name").split() + processes("/truetail run", "--pack"):
        assert time.monotonic() < until, f"left behind: {left}"
        time.sleep(0.2)


def lost(load, stripe, code, *words):
    """The run without this stripe: it is named, and the books of the rest balance. What the user was told has these words."""
    run, said = load.run(), load.said()
    assert run["shards"]["missing"] == [stripe] and code == 4, said
    assert f"lost: stripe {stripe}/{SHARDS}" in said and all(word in said for word in words), said
    tally = balanced(run)
    assert tally["planned"] == 1200 and tally["never_issued"] >= 400, tally
    return tally


def case_exact(port):
    """Each arrival comes exactly once, in the rate that was asked for, from pods on three nodes that may do nothing else"""
    server = Server(WORK, port)
    load = Load("exact", server, "-r", 300, "-d", "6s")
    load.wait_for("all 3 pods are ready")
    there = pods()
    assert len({node_of(pod) for pod in there}) == SHARDS, "not spread over the nodes"
    for pod in there:
        container = pod["spec"]["containers"][0]
        assert container["securityContext"]["readOnlyRootFilesystem"] and pod["spec"]["securityContext"]["runAsNonRoot"], pod["spec"]
        assert not any("serviceaccount" in mount["mountPath"] for mount in container["volumeMounts"]), pod["spec"]
    code = load.end()
    run = load.run()
    tally = balanced(run)
    assert (tally["planned"], tally["never_issued"]) == (1800, 0), (tally, load.said())
    assert code == (4 if run["verdict"]["state"] == "INVALID" else 0), load.said()
    each_once(load.out, 1800)
    planned = planned_per_second(load.out)
    assert planned[:6] == [300] * 6, planned
    assert [shard["planned"] for shard in run["shards"]["by_stripe"]] == [600] * SHARDS, run["shards"]
    clocks = next(note for note in run["notes"] if "the clocks of 3 of 3 pods were read" in note)
    arrivals = server.arrivals()
    assert len(arrivals) == tally["issued"], f"{len(arrivals)} requests came, and {tally['issued']} were sent"
    nothing_left()
    return f"{flat(arrivals, 300, run)}; {clocks}"


def instant(seconds):
    """So many seconds from now."""
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def apply(name, server, *more):
    """The printed Job, handed to kubectl."""
    words = ["--shards", SHARDS, "--image", IMAGE, "--name", name, "--cpu", "100m", "--memory", "128Mi"]
    manifest = sh(TRUETAIL, "k8s", "render", server.url, *words, *more).stdout
    kubectl("apply", "-f", "-", input=manifest)


def gathered(name):
    """The merged run of an applied Job, by what the documents say."""
    kubectl("wait", "--for=condition=Complete", f"job/{name}", "--timeout=90s")
    logs = []
    for pod in pods("-l", f"app.kubernetes.io/instance={name}"):
        logs.append(WORK / f"{pod['metadata']['name']}.log")
        logs[-1].write_text(kubectl("logs", pod["metadata"]["name"]))
    out = WORK / f"merged-{name}"
    sh(TRUETAIL, "merge", *logs, "--out", out, check=False)
    kubectl("delete", "job", name, "--cascade=foreground")
    return out, json.loads((out / "run.json").read_text())


def case_rendered(port):
    """`truetail k8s render | kubectl apply` needs no more of truetail than a merge; each row of a file in the image is sent once"""
    server = Naming(port)
    # A name, which the static binary looks up by itself.
    answer_dns()
    server.url = f"http://service.test:{port}/row/{{{{id}}}}"
    apply("rendered", server, "--start-at", "+30s", "-r", 200, "-d", "9s", "--data-from", "/rows.csv")
    out, run = gathered("rendered")
    tally = balanced(run)
    assert (tally["planned"], tally["never_issued"]) == (1800, 0), run["shards"]
    each_once(out, 1800)
    seen = Counter(server.seen())
    assert seen == Counter(f"/row/{row}" for row in range(1, 1801)), f"{seen.total()} requests, {len(seen)} rows"
    nothing_left()
    return f"{len(seen)} rows came, each once"


def case_flow(port):
    """Sessions of a flow, whose files, rows and setup come in a Secret that is gone afterwards"""
    server = Naming(port)
    folder = WORK / "flow"
    (folder / "parts").mkdir(parents=True)
    (folder / "rows.csv").write_text("id\n" + "".join(f"{row}\n" for row in range(1, 301)))
    (folder / "login.hurl").write_text("GET {{host}}/login\nHTTP 200\n[Captures]\nseen: status\n")
    (folder / "parts/body").write_text("x" * 10)
    (folder / "shop.hurl").write_text(
        "GET {{host}}/row/{{id}}/{{seen}}\nfile,parts/body;\nHTTP 200\n\nGET {{host}}/bye/{{id}}\nHTTP 200\n")
    load = Load("flow", None, "--flow", folder / "shop.hurl", "--setup", folder / "login.hurl", "--data-from", folder / "rows.csv",
                "--variable", f"host={server.url}", "-r", 50, "-d", "6s")
    load.wait_for("all 3 pods are ready")
    assert kubectl("get", "secret", "flow", "-o", "jsonpath={.immutable}") == "true"
    code = load.end()
    run = load.run()
    tally = balanced(run)
    sessions = run["sessions"]["tally"]
    assert (sessions["planned"], sessions["completed"], tally["planned"]) == (300, 300, 600), (run["sessions"], load.said())
    assert code == (4 if run["verdict"]["state"] == "INVALID" else 0), load.said()
    seen = Counter(server.seen())
    setups = seen.pop("/login")
    wanted = Counter(path for row in range(1, 301) for path in (f"/row/{row}/200", f"/bye/{row}"))
    assert setups == SHARDS and seen == wanted, (setups, (seen - wanted).most_common(3), (wanted - seen).most_common(3))
    nothing_left()
    return f"{setups} setups, and each of 300 rows went through both steps once"


def case_late(port):
    """A pod that starts 3 s late leaves out what it missed; the others do not wait for it"""
    server = Server(WORK, port)
    send(signal.SIGSTOP, "kubelet", "--hostname-override node2")
    start = time.time() + 30
    try:
        apply("late", server, "--start-at", instant(30), "-r", 200, "-d", "10s")
        time.sleep(max(0, start + 3 - time.time()))
    finally:
        send(signal.SIGCONT, "kubelet", "--hostname-override node2")
    _, run = gathered("late")
    tally = balanced(run)
    shards = run["shards"]["by_stripe"]
    late = sorted(shard["late_ns"] or 0 for shard in shards)
    assert late[:2] == [0, 0] and 3e9 <= late[2] < 10e9, shards
    # Each shard has an arrival every 15 ms, from the first on.
    missed = max(shard["never_issued"] for shard in shards)
    assert tally["planned"] == 2000 and tally["never_issued"] == missed and abs(missed - late[2] / 15e6) <= 1, (tally, shards)
    assert len(server.arrivals()) == tally["issued"]
    nothing_left()
    return f"{late[2] / 1e9:.2f} s late, {missed} arrivals never issued"


def case_failing(port):
    """An index that fails in mid-run is named, and the rest is a partial result"""
    server = Server(WORK, port)
    load = Load("failing", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    send(signal.SIGKILL, "/truetail run", "--stripe=1+1/3")
    tally = lost(load, 2, load.end(), "exit code 137")
    assert len(server.arrivals()) >= tally["issued"]
    nothing_left()


def case_evicted(port):
    """So is a pod that is evicted in mid-run, though it ends in good order"""
    server = Server(WORK, port)
    load = Load("evicted", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    victim = next(pod for pod in pods() if stripe_of(pod) == 2)
    kubectl("delete", "pod", victim["metadata"]["name"], "--wait=false")
    tally = lost(load, 2, load.end())
    assert len(server.arrivals()) >= tally["issued"]
    nothing_left()


def case_ctrl_c(port):
    """Ctrl-C drains all pods, reports, and leaves nothing"""
    server = Server(WORK, port)
    load = Load("ctrl-c", server, "-r", 150, "-d", "10m")
    load.wait_for("results")
    load.process.send_signal(signal.SIGINT)
    code = load.end(60)
    run = load.run()
    tally = balanced(run)
    assert code == 130 and run["interrupted"] and tally["responses"] == tally["issued"] > 0, load.said()
    assert not run["shards"].get("missing"), load.said()
    assert len(server.arrivals()) == tally["issued"]
    nothing_left()


def case_no_server(port):
    """Where nothing answers nothing is sent, and the reason is said"""
    server = Server(WORK, port)
    server.arrivals()
    load = Load("no-server", server, "-r", 150, "-d", "5s")
    assert load.end() == 1, load.said()
    assert "ended before the load began" in load.said() and "nothing was sent" in load.said(), load.said()
    assert not load.out.exists()
    nothing_left()


def case_silent_node(port):
    """A node that does not answer any more holds up nobody's results"""
    server = Server(WORK, port)
    load = Load("silent-node", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    victim = next(pod for pod in pods() if node_of(pod) == "node2")
    sh("ip", "link", "set", "v2", "down")
    try:
        tally = lost(load, stripe_of(victim), load.end(), "node2")
    finally:
        sh("ip", "link", "set", "v2", "up")
    came = len(server.arrivals())
    assert tally["issued"] <= came < 1200, (came, tally)
    kubectl("wait", "--for=condition=Ready", "node/node2", "--timeout=90s")
    nothing_left(within=60)
    return f"{came} of 1200 requests came, the books have {tally['issued']}"


def case_lost_node(port):
    """A node whose kubelet and containerd are killed in mid-run. The last case: the node does not come back"""
    server = Server(WORK, port)
    load = Load("lost-node", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    victim = next(pod for pod in pods() if node_of(pod) == "node3")
    send(signal.SIGKILL, "kubelet", "--hostname-override node3")
    send(signal.SIGKILL, "containerd", "node3/containerd.toml")
    tally = lost(load, stripe_of(victim), load.end(), "node3")
    # Nobody told the pod: it went on by itself.
    came = len(server.arrivals())
    assert tally["issued"] <= came <= 1200, (came, tally)
    nothing_left(within=60)
    return f"{came} of 1200 requests came, the books have {tally['issued']}"


CASES = [
    case_exact, case_rendered, case_flow, case_late, case_failing, case_evicted, case_ctrl_c, case_no_server, case_silent_node, case_lost_node,
]


def main():
    chosen = sys.argv[2:] or [case.__name__ for case in CASES]
    least_privileges()
    for port, case in enumerate(CASES, 8080):
        if case.__name__ not in chosen:
            continue
        began = time.monotonic()
        try:
            found = case(port)
        except Exception:
            traceback.print_exc()
            sys.exit(f"FAILED {case.__name__}\n{kubectl('get', 'pods,jobs', '-o', 'wide', check=False)}")
        print(f"ok  {time.monotonic() - began:5.1f}s  {case.__name__}: {case.__doc__}" + (f"\n    {found}" if found else ""), flush=True)


main()
