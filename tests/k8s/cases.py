#!/usr/bin/env python3
"""What `truetail k8s` does on a real Kubernetes: cases.py WORK [CASE…]. Called by cluster.sh, which sets KUBECONFIG; the program is
$TRUETAIL. The server stands on the bridge, outside the cluster, and its log is the truth."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

WORK = Path(sys.argv[1])
TRUETAIL = os.environ["TRUETAIL"]
ROOT = Path(__file__).resolve().parents[2]
IMAGE = "localhost/truetail:here"
SHARDS = 3


def sh(*words, check=True, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


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
        (("patch", "jobs"), "no"), (("create", "pods"), "no"), (("get", "secrets"), "no"), (("list", "pods", "-n", "default"), "no"),
    ]:
        said = sh("kubectl", "-n", "load", "auth", "can-i", "--as=loader", *words, check=False).stdout.strip()
        assert said == may, f"loader {words}: {said}"


class Server:
    """The misbehaving server, healthy, with a truth log of its own."""

    def __init__(self, port):
        self.truth = WORK / f"truth-{port}.csv"
        self.url = f"http://198.51.100.1:{port}/api"
        self.process = subprocess.Popen(
            [TRUETAIL, "serve", "--scenario", "01", "--listen", f"198.51.100.1:{port}", "--truth", self.truth],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        self.process.stdout.readline()

    def seen(self):
        """How many requests came, without the one of each pod before the load, which the log leaves out."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        with open(self.truth) as file:
            return sum(1 for _ in csv.DictReader(file))


class Load:
    """`truetail k8s run` as the user `loader`."""

    def __init__(self, case, server, *more):
        self.out = WORK / f"run-{case}"
        words = [TRUETAIL, "k8s", "run", server.url, "--shards", SHARDS, "--image", IMAGE, "--namespace", "load", "--cpu", "100m"]
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


def balanced(run):
    tally = run["tally"]
    ends = ("responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end")
    assert tally["planned"] == tally["issued"] + tally["never_issued"], tally
    assert tally["issued"] == sum(tally[name] for name in ends), tally
    return tally


def each_once(folder, planned):
    """Every arrival of the load is in the merged run once."""
    with open(folder / "samples.csv") as file:
        indexes = sorted(int(row["index"]) for row in csv.DictReader(file))
    assert indexes == list(range(planned)), f"{len(indexes)} of {planned} arrivals"


def nothing_left():
    left = kubectl("get", "jobs,pods", "-o", "name").split()
    assert not left, left
    ours = sh("pgrep", "-af", "--", "--pack", check=False).stdout
    assert not ours, f"processes of pods: {ours}"


def case_exact(port):
    """Each arrival comes exactly once, in the rate that was asked for, from pods on three nodes that may do nothing else."""
    server = Server(port)
    load = Load("exact", server, "-r", 300, "-d", "6s")
    load.wait_for("all 3 pods are ready")
    pods = json.loads(kubectl("get", "pods", "-o", "json"))["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == SHARDS, "not spread over the nodes"
    for pod in pods:
        security = pod["spec"]["containers"][0]["securityContext"]
        assert security["readOnlyRootFilesystem"] and pod["spec"]["securityContext"]["runAsNonRoot"], pod["spec"]
        assert not any("serviceaccount" in mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]), pod["spec"]
    code = load.end()
    run = load.run()
    tally = balanced(run)
    assert (tally["planned"], tally["never_issued"]) == (1800, 0), (tally, load.said())
    assert code == (4 if run["verdict"]["state"] == "INVALID" else 0), load.said()
    each_once(load.out, 1800)
    with open(load.out / "timeline.csv") as file:
        planned = [int(row["planned"]) for row in csv.DictReader(file)][:6]
    assert planned == [300] * 6, planned
    assert [shard["planned"] for shard in run["shards"]["by_stripe"]] == [600] * SHARDS, run["shards"]
    assert any("the clocks of 3 of 3 pods were read" in note for note in run["notes"]), run["notes"]
    seen = server.seen()
    assert seen == tally["issued"], f"{seen} requests came, and {tally['issued']} were sent"
    nothing_left()


def rendered(name, server, start, *more):
    """A Job without our help: its manifest, its pods, and their logs. The merged run."""
    manifest = sh(TRUETAIL, "k8s", "render", server.url, "--shards", SHARDS, "--image", IMAGE, "--name", name, "--cpu", "100m",
                  "--start-at", start, *more).stdout
    kubectl("apply", "-f", "-", input=manifest)
    kubectl("wait", "--for=condition=Complete", f"job/{name}", "--timeout=90s")
    logs = []
    for pod in kubectl("get", "pods", "-l", f"app.kubernetes.io/instance={name}", "-o", "name").split():
        log = WORK / f"{name}-{len(logs)}.log"
        log.write_text(kubectl("logs", pod))
        logs.append(log)
    out = WORK / f"merged-{name}"
    sh(TRUETAIL, "merge", *logs, "--out", out, check=False)
    kubectl("delete", "job", name, "--cascade=foreground")
    return out, json.loads((out / "run.json").read_text())


def case_rendered(port):
    """`truetail k8s render | kubectl apply` needs nothing more of truetail than a merge."""
    server = Server(port)
    out, run = rendered("rendered", server, "+10s", "-r", 200, "-d", "4s")
    tally = balanced(run)
    assert (tally["planned"], tally["never_issued"]) == (800, 0), run["shards"]
    each_once(out, 800)
    assert server.seen() == tally["issued"]
    nothing_left()


def case_late(port):
    """Pods that are ready only after the start leave out what they missed."""
    server = Server(port)
    out, run = rendered("late", server, "+1s", "-r", 200, "-d", "20s")
    tally = balanced(run)
    late = [shard["late_ns"] for shard in run["shards"]["by_stripe"]]
    assert tally["planned"] == 4000 and tally["never_issued"] > 0 and min(late) > 0, (tally, late)
    # The sum over the shards: an arrival every 15 ms each, from the first on.
    missed = [shard["never_issued"] for shard in run["shards"]["by_stripe"]]
    for late_ns, count in zip(late, missed):
        assert abs(count - late_ns / 15e6) <= 1, (late_ns, count)
    assert server.seen() == tally["issued"]
    nothing_left()


def case_evicted(port):
    """A pod that goes away in mid-run is named, and the rest is a partial result."""
    server = Server(port)
    load = Load("evicted", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    victim = next(pod for pod in kubectl("get", "pods", "-o", "name").split() if "evicted-1-" in pod)
    kubectl("delete", victim, "--force", "--grace-period=0")
    code = load.end()
    run = load.run()
    assert run["shards"]["missing"] == [2] and code == 4, load.said()
    tally = balanced(run)
    assert tally["planned"] == 1200 and tally["never_issued"] >= 400, tally
    assert "lost: stripe 2/3" in load.said(), load.said()
    server.seen()
    nothing_left()


def case_ctrl_c(port):
    """Ctrl-C drains all pods, reports, and leaves nothing."""
    server = Server(port)
    load = Load("ctrl-c", server, "-r", 150, "-d", "10m")
    load.wait_for("results")
    load.process.send_signal(signal.SIGINT)
    code = load.end(60)
    run = load.run()
    tally = balanced(run)
    assert code == 130 and run["interrupted"] and tally["responses"] == tally["issued"] > 0, load.said()
    assert not run["shards"].get("missing"), load.said()
    assert server.seen() == tally["issued"]
    nothing_left()


def case_no_server(port):
    """Where nothing answers nothing is sent, and the reason is said."""
    server = Server(port)
    server.seen()
    load = Load("no-server", server, "-r", 150, "-d", "5s")
    assert load.end() == 1, load.said()
    assert "ended before the load began" in load.said() and "nothing was sent" in load.said(), load.said()
    assert not load.out.exists()
    nothing_left()


def case_lost_node(port):
    """A node whose kubelet, containerd and pods are killed in mid-run. The last case: the node is gone."""
    server = Server(port)
    load = Load("lost-node", server, "-r", 150, "-d", "8s")
    load.wait_for("results")
    pods = json.loads(kubectl("get", "pods", "-o", "json"))["items"]
    victim = next(pod for pod in pods if pod["spec"]["nodeName"] == "node3")
    stripe = int(victim["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]) + 1
    os.kill(int((WORK / "node3/pid").read_text()), signal.SIGKILL)
    code = load.end()
    run = load.run()
    assert run["shards"]["missing"] == [stripe] and code == 4, load.said()
    tally = balanced(run)
    assert tally["planned"] == 1200 and tally["never_issued"] >= 400, tally
    assert f"stripe {stripe}/3" in load.said() and "node3" in load.said(), load.said()
    server.seen()
    nothing_left()


CASES = [case_exact, case_rendered, case_late, case_evicted, case_ctrl_c, case_no_server, case_lost_node]


def main():
    chosen = sys.argv[2:] or [case.__name__ for case in CASES]
    least_privileges()
    for port, case in enumerate(CASES, 8080):
        if case.__name__ not in chosen:
            continue
        began = time.monotonic()
        try:
            case(port)
        except Exception as error:
            sys.exit(f"FAILED {case.__name__}: {error}\n{kubectl('get', 'pods,jobs', '-o', 'wide', check=False)}")
        print(f"ok  {case.__name__:15} {time.monotonic() - began:5.1f}s  {case.__doc__.splitlines()[0]}", flush=True)


main()
