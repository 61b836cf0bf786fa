//! `orange-fleet restate-log`

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use orange_api::{Error, Kind, Result};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::Said;
use crate::host::restate::{Registration, Service};
use crate::serve::logs;

/// Time between two tries to register.
const AGAIN: Duration = Duration::from_millis(500);

/// `orange-fleet restate-log …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet restate-log --admin http://127.0.0.1:9070
  orange-fleet restate-log --listen 10.0.0.5:9180 --admin http://10.0.0.4:9070
  orange-fleet serve --store restate://127.0.0.1:8080/fleet        (beside it)

The service keeps nothing: Restate does, and several gateways share one. It has to stay reachable at the address under which it is
registered. SIGTERM and SIGINT stop it. Everybody who reaches its port, or those of Restate, can read and write the store.")]
pub struct RestateLogArgs {
    /// Address at which it listens for the Restate server
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9180")]
    listen: SocketAddr,
    /// The admin API of the Restate server, with which it registers itself when that answers
    #[arg(long, value_name = "URL")]
    admin: Option<String>,
    /// The address at which the Restate server finds it [default: that where it listens]
    #[arg(long, value_name = "URL", requires = "admin")]
    service: Option<String>,
}

impl RestateLogArgs {
    pub(super) fn run(self) -> Result<Said> {
        logs::begin(::log::LevelFilter::Info);
        for url in [&self.admin, &self.service].into_iter().flatten() {
            let is_url = url
                .parse::<ureq::http::Uri>()
                .is_ok_and(|it| it.scheme_str() == Some("http") && it.host().is_some());
            if !is_url {
                let message = format!("`{}` is not an address of a server", url.escape_debug());
                return Err(Error::new(Kind::Usage, message).help("write `http://HOST:PORT`"));
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| {
            Error::new(Kind::Environment, format!("no threads can be started: {cause}"))
                .help("look at `ulimit -u`")
        })?;
        runtime.block_on(self.serve())?;
        // A registration that still waits for its server ends with the process.
        runtime.shutdown_background();
        Ok(Said { text: String::new(), json: json!({"stopped": true}) })
    }

    async fn serve(self) -> Result<()> {
        let listen_to = |kind| {
            signal(kind)
                .map_err(|cause| Error::new(Kind::Environment, format!("signals cannot be heard: {cause}")))
        };
        let (mut term, mut int) = (listen_to(SignalKind::terminate())?, listen_to(SignalKind::interrupt())?);
        let service = Service::bind(self.listen).map_err(|cause| {
            Error::new(Kind::Environment, format!("it cannot listen on {}: {cause}", self.listen))
                .help("another program may have the port: name another one with `--listen`")
        })?;
        let address = format!("http://{}", service.address());
        say(&format!("orange-fleet serves the log at {address}"));
        let at = self.service.unwrap_or_else(|| address.clone());
        let registering = self.admin.map(|admin| tokio::spawn(register(Registration { admin, service: at })));
        service
            .serve(async {
                tokio::select! {
                    _ = term.recv() => {}
                    _ = int.recv() => {}
                }
            })
            .await;
        if let Some(registering) = registering {
            registering.abort();
        }
        Ok(())
    }
}

/// Registers the service when the server answers.
async fn register(registration: Registration) {
    let mut last = String::new();
    loop {
        let asked = registration.clone();
        match tokio::task::spawn_blocking(move || asked.make()).await {
            Ok(Ok(())) => break,
            Ok(Err(cause)) if cause != last => {
                let admin = registration.admin.as_str();
                ::log::warn!(admin = admin, cause = cause.as_str(); "the service is not registered yet");
                last = cause;
            }
            Ok(Err(_)) => {}
            // The program ends.
            Err(_) => return,
        }
        tokio::time::sleep(AGAIN).await;
    }
    say(&format!("it is registered with {}", registration.admin));
}

/// The program that starts it may have closed the output.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap_or_default();
}
