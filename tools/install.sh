#!/usr/bin/env bash
# Installs load tools for the laboratory, servers, Hurl, Prometheus and a browser for the tests, mdBook for `make docs`,
# valgrind for `make instructions-check`, umoci and rpmbuild for `make dist`: tools/install.sh [TOOL …], without names all of them but those of $large.
# Installed tools are left alone, which takes seconds. If one fails, the others are still installed and the exit code is 1.
#
# Tools that no package manager puts on the path go to ${TRUETAIL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/truetail/tools},
# where truetail looks first. Each version is the one that truetail's parser was tested with.
# Vegeta and wrk2 are in no registry; `truetail lab tools` says how to build them.
#
# A new tool is a function install_NAME here; the order of the functions is the order of installation.
set -euo pipefail

readonly folder="${TRUETAIL_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/truetail/tools}"
readonly root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly sources="$root/crates/tools/src" tests="$root/tests"
# shellcheck disable=SC2207
readonly every=($(sed -n 's/^install_\([a-z0-9_]*\)() {.*/\1/p' "${BASH_SOURCE[0]}"))

readonly k6_version=1.8.1 ghz_version=0.121.0 fortio_version=1.68.2 jmeter_version=5.6.3 gatling_version=3.15.1 hyperfoil_version=0.25.2
# With what they depend on: guidellm takes 5.9 GB (torch with its libraries for CUDA), aiperf 1.2 GB, inference_perf 0.8 GB,
# sglang 0.7 GB, vllm 8 GB, as guidellm does.
readonly large=(guidellm aiperf inference_perf sglang vllm) inference_perf_version=0.7.0 guidellm_version=0.8.1 aiperf_version=0.13.0
readonly sglang_version=0.5.9 vllm_version=0.32.0
readonly locust_version=2.47.0 autocannon_version=9.0.0 oha_version=1.16.0
readonly mdbook_version=0.5.4 hurl_version=8.0.1

install_ab() { from_apt ab apache2-utils; }
install_hey() { from_apt hey hey; }
install_wrk() { from_apt wrk wrk; }
install_tmux() { from_apt tmux tmux; }
install_h2load() { from_apt h2load nghttp2-client; }
install_valgrind() { from_apt valgrind valgrind; }
install_umoci() { from_apt umoci umoci; }
install_rpmbuild() { from_apt rpmbuild rpm; }

install_k6() {
    if says "v$k6_version" "$folder/bin/k6" version; then return; fi
    needs go "Go, 1.24 or later" 1.24 go version
    GOBIN="$folder/bin" go install "go.k6.io/k6@v$k6_version"
}

# The version is set as in its own releases; otherwise it prints 'dev'.
install_ghz() {
    if says "$ghz_version" "$folder/bin/ghz" --version; then return; fi
    needs go "Go, 1.24 or later" 1.24 go version
    GOBIN="$folder/bin" go install -ldflags "-X main.version=$ghz_version" "github.com/bojand/ghz/cmd/ghz@v$ghz_version"
}

install_fortio() {
    if says "$fortio_version" "$folder/bin/fortio" version; then return; fi
    needs go "Go, 1.24 or later" 1.24 go version
    GOBIN="$folder/bin" go install "fortio.org/fortio@v$fortio_version"
}

install_jmeter() {
    if [[ -e "$folder/jmeter/installed-$jmeter_version" ]]; then return; fi
    local home="$folder/jmeter.new" jmeter=org.apache.jmeter:ApacheJMeter
    jars "$home/lib" "$jmeter:$jmeter_version" "${jmeter}_components:$jmeter_version" \
        "${jmeter}_http:$jmeter_version" "${jmeter}_functions:$jmeter_version" "${jmeter}_config:$jmeter_version"
    mkdir -p "$home/bin" "$home/lib/ext" "$home/lib/junit"
    mv "$home"/lib/ApacheJMeter_*.jar "$home/lib/ext/"
    mv "$home/lib/ApacheJMeter-$jmeter_version.jar" "$home/bin/ApacheJMeter.jar"
    # Its settings come as a jar of their own: without saveservice.properties it cannot read a plan.
    needs jar "a Java development kit, 17 or later"
    (cd "$home" && jar xf "lib/ext/ApacheJMeter_config-$jmeter_version.jar" bin)
    rm "$home/lib/ext/ApacheJMeter_config-$jmeter_version.jar"
    settle jmeter "$jmeter_version"
}

install_gatling() {
    if [[ ! -e "$folder/gatling/installed-$gatling_version" ]]; then
        jars "$folder/gatling.new/lib" "io.gatling.highcharts:gatling-charts-highcharts:$gatling_version"
        settle gatling "$gatling_version"
    fi
    compile gatling LoadSimulation
}

install_hyperfoil() {
    if [[ ! -e "$folder/hyperfoil/installed-$hyperfoil_version" ]]; then
        jars "$folder/hyperfoil.new/lib" "io.hyperfoil:hyperfoil-core:$hyperfoil_version" \
            "io.hyperfoil:hyperfoil-http:$hyperfoil_version"
        settle hyperfoil "$hyperfoil_version"
    fi
    compile hyperfoil RunBenchmark
}

install_locust() {
    if says "locust $locust_version " "$folder/bin/locust" --version; then return; fi
    from_pypi locust "$locust_version"
}

install_guidellm() {
    if says "$guidellm_version" "$folder/bin/guidellm" --version; then return; fi
    from_pypi guidellm "$guidellm_version"
}

install_aiperf() {
    if says "$aiperf_version" "$folder/bin/aiperf" --version; then return; fi
    from_pypi aiperf "$aiperf_version"
}

install_node() { from_apt node nodejs; }
install_chromium() { from_apt chromium chromium; }

install_autocannon() {
    if says "v$autocannon_version" "$folder/bin/autocannon" --version; then return; fi
    needs node "Node.js, 20 or later" 20 node --version
    needs npm "Node.js, 20 or later"
    npm install --silent --no-audit --no-fund --prefix "$folder/autocannon" "autocannon@$autocannon_version"
    link autocannon "$folder/autocannon/node_modules/.bin/autocannon"
}

install_oha() {
    if says "oha $oha_version" "$folder/bin/oha" --version; then return; fi
    needs cargo "Rust"
    cargo install --quiet --locked --root "$folder" --version "$oha_version" oha
}

# Two minutes on two processors.
install_hurl() {
    if says "hurl $hurl_version " "$folder/bin/hurl" --version; then return; fi
    needs cargo "Rust"
    # What it is built with; elsewhere than on Debian they have other names.
    if type -P dpkg >/dev/null && ! dpkg -s libxml2-dev libclang-dev libssl-dev pkg-config >/dev/null 2>&1; then
        apt_install libxml2-dev libclang-dev libssl-dev pkg-config
    fi
    cargo install --quiet --locked --root "$folder" --version "$hurl_version" hurl
}

# What the application in tests/apps/shop runs on.
install_shop() {
    from_npm shop "$tests/apps/shop/package.json"
}

# The gRPC servers and the WebSocket servers of the tests.
install_grpc_go() { server_in_go grpc; }
install_websocket_go() { server_in_go websocket; }

install_websocket_node() {
    install_node
    mkdir -p "$folder/websocket-node"
    cp "$tests/websocket/node/serve.mjs" "$folder/websocket-node/"
    starts_with websocket-node node "$folder/websocket-node/serve.mjs"
}

install_grpc_python() {
    local source="$tests/grpc/python" home="$folder/grpc-python"
    if ! cmp -s "$source/requirements.txt" "$home/installed"; then
        needs python3 "Python 3.10 or later" 3.10 python3 --version
        rm -rf "$home"
        python3 -m venv "$home"
        "$home/bin/pip" install --quiet --disable-pip-version-check -r "$source/requirements.txt"
        cp "$source/requirements.txt" "$home/installed"
    fi
    cp "$source/serve.py" "$tests/grpc/truth.proto" "$home/"
    starts_with grpc-python "$home/bin/python" "$home/serve.py"
}

install_grpc_node() {
    local home="$folder/grpc-node"
    from_npm grpc-node "$tests/grpc/node/package.json"
    cp "$tests/grpc/node/serve.mjs" "$tests/grpc/truth.proto" "$home/"
    starts_with grpc-node node "$home/serve.mjs"
}

# Without optimisation it is quick enough for tests.
install_grpc_tonic() {
    local source="$tests/grpc/tonic" home="$folder/grpc-tonic"
    if diff -r "$source" "$home/tonic" >/dev/null 2>&1 && cmp -s "$tests/grpc/truth.proto" "$home/truth.proto" &&
        [[ -x "$folder/bin/truetail-grpc-tonic" ]]; then return; fi
    needs cargo "Rust, 1.88 or later" 1.88 cargo --version
    rm -rf "$home" && mkdir -p "$home"
    cp "$tests/grpc/truth.proto" "$home/"
    cargo install --quiet --locked --debug --root "$folder" --path "$source" --target-dir "$home/target"
    rm -rf "$home/target"
    cp -r "$source" "$home/tonic"
}

# Built without optimisation, which halves the build: it makes one small book.
install_mdbook() {
    if says "mdbook v$mdbook_version" "$folder/bin/mdbook" --version; then return; fi
    needs cargo "Rust"
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root "$folder" --version "$mdbook_version" \
        --no-default-features --features search mdbook
}

# Installing the package would start nginx on port 80, so only the program is extracted.
install_nginx() {
    if type -P nginx >/dev/null || [[ -x "$folder/bin/nginx" ]]; then return; fi
    needs apt-get "a Debian-like system; elsewhere, your package manager's nginx"
    local new="$folder/nginx.new"
    rm -rf "$new" && mkdir -p "$new"
    (cd "$new" && { apt-get download -q nginx || { as_root apt-get update -q && apt-get download -q nginx; }; })
    dpkg-deb -x "$new"/nginx_*.deb "$new"
    mkdir -p "$folder/bin"
    mv "$new/usr/sbin/nginx" "$folder/bin/nginx"
    rm -rf "$new"
}

# Installing the package would start a server on port 9090, so only the programs are extracted.
install_prometheus() {
    if type -P prometheus promtool >/dev/null || [[ -x "$folder/bin/promtool" ]]; then return; fi
    needs apt-get "a Debian-like system; elsewhere, your package manager's Prometheus"
    local new="$folder/prometheus.new"
    rm -rf "$new" && mkdir -p "$new"
    (cd "$new" && { apt-get download -q prometheus || { as_root apt-get update -q && apt-get download -q prometheus; }; })
    dpkg-deb -x "$new"/prometheus_*.deb "$new"
    mkdir -p "$folder/bin"
    mv "$new/usr/bin/prometheus" "$new/usr/bin/promtool" "$folder/bin/"
    rm -rf "$new"
}

# Installing the package would start a server on port 6379, so only the programs are extracted, and their libraries installed.
install_redis() {
    if type -P redis-server redis-benchmark >/dev/null || [[ -x "$folder/bin/redis-server" ]]; then return; fi
    needs apt-get "a Debian-like system; elsewhere, your package manager's Redis"
    local new="$folder/redis.new" programs=(redis-server redis-cli redis-benchmark)
    rm -rf "$new" && mkdir -p "$new"
    (cd "$new" && { apt-get download -q redis-server redis-tools || { as_root apt-get update -q && apt-get download -q redis-server redis-tools; }; })
    for package in "$new"/*.deb; do dpkg-deb -x "$package" "$new"; done
    apt_install libjemalloc2 liblua5.1-0 liblzf1 libhiredis0.14 lua-cjson lua-bitop
    mkdir -p "$folder/bin"
    for program in "${programs[@]}"; do cp -L "$new/usr/bin/$program" "$folder/bin/$program"; done
    rm -rf "$new"
    "$folder/bin/redis-server" --version >/dev/null
}

install_inference_perf() {
    local python
    if [[ -e "$folder/inference-perf/installed-$inference_perf_version" ]]; then return; fi
    for python in python3.14 python3.13 python3.12 python3; do
        if "$python" --version >/dev/null 2>&1; then break; fi
    done
    needs "$python" "Python 3.12 or later" 3.12 "$python" --version
    from_pypi inference-perf "$inference_perf_version" "$python"
    touch "$folder/inference-perf/installed-$inference_perf_version"
}

# Its bench_serving without its server: what the server depends on is gigabytes for GPUs. These are what the client imports, and the
# version of transformers is the one that sglang asks for.
install_sglang() {
    local home="$folder/sglang"
    if [[ -e "$home/installed-$sglang_version" ]]; then return; fi
    needs python3 "Python 3.10 or later" 3.10 python3 --version
    rm -rf "$home"
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --disable-pip-version-check \
        aiohttp datasets IPython numpy orjson pillow pybase64 pydantic requests tqdm transformers==4.57.1
    "$home/bin/pip" install --quiet --disable-pip-version-check --no-deps "sglang==$sglang_version"
    printf '#!/bin/sh\nexec "%s/bin/python" -m sglang.bench_serving "$@"\n' "$home" >"$home/bin/sglang-bench-serving"
    chmod +x "$home/bin/sglang-bench-serving"
    link sglang-bench-serving "$home/bin/sglang-bench-serving"
    touch "$home/installed-$sglang_version"
}

# Its `bench serve` comes with all of the server, which does not have to run.
install_vllm() {
    if [[ -e "$folder/vllm/installed-$vllm_version" ]]; then return; fi
    from_pypi vllm "$vllm_version"
    "$folder/vllm/bin/pip" install --quiet --disable-pip-version-check "vllm[bench]==$vllm_version"
    touch "$folder/vllm/installed-$vllm_version"
}

# from_pypi PACKAGE VERSION [PYTHON]: in an environment of its own, which has a program of that name.
from_pypi() {
    needs python3 "Python 3.10 or later" 3.10 python3 --version
    rm -rf "${folder:?}/$1"
    "${3:-python3}" -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "$1==$2"
    link "$1" "$folder/$1/bin/$1"
}

# from_npm NAME FILE: what FILE, a package.json, asks for, in a folder of that name.
from_npm() {
    if cmp -s "$2" "$folder/$1/installed.json"; then return; fi
    needs npm "Node.js"
    rm -rf "${folder:?}/$1" && mkdir -p "$folder/$1"
    cp "$2" "$folder/$1/"
    npm install --silent --no-audit --no-fund --prefix "$folder/$1"
    cp "$2" "$folder/$1/installed.json"
}

# starts_with NAME PROGRAM FILE: the program truetail-NAME runs FILE.
starts_with() {
    mkdir -p "$folder/bin"
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$(type -P "$2")" "$3" >"$folder/bin/truetail-$1"
    chmod +x "$folder/bin/truetail-$1"
}

# from_apt PROGRAM PACKAGE
from_apt() {
    if type -P "$1" >/dev/null; then return; fi
    needs apt-get "a Debian-like system; elsewhere, your package manager's $2"
    apt_install "$2"
}

# apt_install PACKAGE…
apt_install() {
    if ! as_root apt-get install -y -q "$@"; then
        as_root apt-get update -q
        as_root apt-get install -y -q "$@"
    fi
}

# Never asks for a password, because `make test-tools` would wait for it. If sudo needs one, the tool is not installed.
as_root() {
    if [[ "$(id -u)" == 0 ]]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# jars FOLDER GROUP:ARTIFACT:VERSION…: those and all their dependencies, in an emptied folder.
jars() {
    local into="$1" group artifact version
    needs mvn "Maven and a Java development kit, 17 or later"
    needs javac "a Java development kit, 17 or later" 17 javac -version
    rm -rf "$into" && mkdir -p "$into"
    {
        echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        echo '<groupId>local</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>'
        echo '<dependencies>'
        while IFS=: read -r group artifact version; do
            echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version></dependency>"
        done < <(printf '%s\n' "${@:2}")
        echo '</dependencies></project>'
    } >"$into.pom.xml"
    mvn -B -q -Dstyle.color=never -f "$into.pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        "-DoutputDirectory=$into"
}

# settle TOOL VERSION: moves the prepared folder TOOL.new into place.
settle() {
    touch "$folder/$1.new/installed-$2"
    rm -rf "${folder:?}/$1"
    mv "$folder/$1.new" "$folder/$1"
}

# compile TOOL CLASS: compiles our own Java class, again when its source changed.
compile() {
    local source="$sources/$1/$2.java" classes="$folder/$1/classes"
    if cmp -s "$source" "$classes/$2.java"; then return; fi
    needs javac "a Java development kit, 17 or later"
    mkdir -p "$classes"
    javac -cp "$folder/$1/lib/*" -d "$classes" "$source"
    cp "$source" "$classes/$2.java"
}

# server_in_go NAME: builds tests/NAME/go, again when its source changed.
server_in_go() {
    local source="$tests/$1/go" program="$folder/bin/truetail-$1-go"
    if cmp -s "$source/main.go" "$folder/$1-go.installed" && [[ -x "$program" ]]; then return; fi
    needs go "Go, 1.24 or later" 1.24 go version
    (cd "$source" && go build -o "$program" .)
    cp "$source/main.go" "$folder/$1-go.installed"
}

# link NAME PROGRAM
link() {
    mkdir -p "$folder/bin"
    ln -sfn "$2" "$folder/bin/$1"
}

# says TEXT COMMAND…: whether the command exists and prints the text.
says() {
    type -P "$2" >/dev/null && "${@:2}" 2>&1 | grep -F -- "$1" >/dev/null
}

# needs PROGRAM PACKAGE [VERSION COMMAND…]: fails unless the program exists and the first number that the command prints is
# at least the version.
needs() {
    if ! type -P "$1" >/dev/null; then
        echo "  there is no $1: it needs $2" >&2
        return 1
    fi
    if [[ $# == 2 ]]; then return; fi
    local said
    said="$("${@:4}" 2>&1 | grep -oE '[0-9]+(\.[0-9]+)*' | head -n 1)" || true
    if is_older "$said" "$3"; then
        echo "  there is $1 ${said:-of an unknown version}: it needs $2" >&2
        return 1
    fi
}

# is_older VERSION VERSION: the first is below the second.
is_older() {
    [[ "$1" != "$2" && "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" == "$1" ]]
}

main() {
    local tool failed=()
    local tools=("$@")
    if [[ $# == 0 ]]; then
        for tool in "${every[@]}"; do
            if [[ " ${large[*]} " != *" $tool "* ]]; then tools+=("$tool"); fi
        done
    fi
    for tool in "${tools[@]}"; do
        if [[ " ${every[*]} " != *" $tool "* ]]; then
            echo "there is no tool $tool to install; there are: ${every[*]}" >&2
            exit 2
        fi
    done
    mkdir -p "$folder/bin"
    for tool in "${tools[@]}"; do
        echo "$tool"
        # In a shell of its own, so that a failing command ends only this tool.
        if ! bash "${BASH_SOURCE[0]}" --one "$tool"; then failed+=("$tool"); fi
    done
    if [[ ${#failed[@]} != 0 ]]; then
        echo "not installed: ${failed[*]}" >&2
        exit 1
    fi
}

if [[ "${1:-}" == --one ]]; then "install_$2"; else main "$@"; fi
