//! nginx.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;
use truetail_tools::SearchPath;

use crate::missing::missing;
use crate::program::{ServerProcess, certify, starts};
use crate::support::TestDir;
use crate::test_requests::LARGE;

/// Attempts to start. A chosen port may be taken by another program before nginx listens.
const TRIES: u32 = 5;

/// Finds nginx, also in `/usr/sbin`, which is not on every user's path.
pub fn find() -> Option<PathBuf> {
    let mut lookup = SearchPath::from_env();
    lookup.path.push("/usr/sbin".into());
    let found = lookup.program("nginx").ok().filter(|program| starts(program, "-v"));
    if found.is_none() {
        missing("nginx", "tools/install.sh nginx");
    }
    found
}

pub fn start(program: &Path, dir: &TestDir, most_on_one: Option<u32>) -> ServerProcess {
    certify(dir);
    dir.file("text", &"a line of text\n".repeat(LARGE / 15));
    (0..TRIES).find_map(|_| start_once(program, dir, most_on_one)).expect("free ports")
}

/// Returns `None` if another program took a port in the meantime.
fn start_once(program: &Path, dir: &TestDir, most_on_one: Option<u32>) -> Option<ServerProcess> {
    // Held at the same time, so that the ports differ.
    let held = [0, 0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).expect("a port"));
    let [http, https, h2c] = held.map(|listener| listener.local_addr().expect("an address").port());
    dir.file("nginx.conf", &configuration([http, https, h2c], most_on_one.unwrap_or(1_000_000)));
    let mut command = Command::new(program);
    command.arg("-p").arg(dir.path()).args(["-c", "nginx.conf", "-e", "error.log"]);
    let at = |name: &str, scheme, port| (name.to_owned(), format!("{scheme}://127.0.0.1:{port}"));
    let origins =
        vec![at("http", "http", http), at("https", "https", https), at("h2c", "http", h2c), at("h2", "https", https)];
    ServerProcess::start_at(command, origins, Signal::SIGQUIT, dir.path().join("access.log"))
}

fn configuration([http, https, h2c]: [u16; 3], most_on_one: u32) -> String {
    format!(
        r#"
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr;
        events {{ worker_connections 256; }}
        http {{
            log_format counted '$request_method $uri $status $remote_port';
            access_log access.log counted;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            default_type text/plain;
            keepalive_requests {most_on_one};
            gzip_types text/plain;
            server {{
                listen 127.0.0.1:{http};
                listen 127.0.0.1:{https} ssl http2;
                listen 127.0.0.1:{h2c} http2;
                ssl_certificate cert.pem;
                ssl_certificate_key key.pem;
                location = /sized {{ return 200 "hello\n"; }}
                location = /large {{ alias text; }}
                location = /chunked {{ alias text; gzip on; }}
                location = /posted {{ return 201 "made\n"; }}
                location = /empty {{ return 204; }}
                location = /moved {{ return 302 /sized; }}
                location = /same {{ alias text; }}
                location = /broken {{ return 500; }}
                location / {{ return 404; }}
            }}
        }}
        "#
    )
}
