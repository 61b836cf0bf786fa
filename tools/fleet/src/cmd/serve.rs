//! `orange-fleet serve`

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::Said;
use super::store::{StoreOption, folder};
use crate::console;
use crate::console::machine::LocalMachine;
use crate::crab::find_orange;
use crate::host::{Host, KEPT_BY_GATEWAYS};
use crate::plans::PLANS;
use crate::serve::auth::Tokens;
use crate::serve::settings::{Limits, TlsFiles};
use crate::serve::workflows::ServedWorkflows;
use crate::serve::{Gateway, GatewaySettings, OpenSocket, check, logs, serve};

/// The shortest lease: shorter ones end while crabs are well.
const SHORTEST_LEASE: f64 = 0.1;

/// `orange-fleet serve …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet serve
  orange-fleet serve --prompts-path ~/agent-prompts
  orange-fleet serve --listen 0.0.0.0:8800 --tls-cert cert.pem --tls-key key.pem --host-name fleet.example.org
  orange-fleet serve --store 'postgres://fleet@db.example.org/fleet'
  orange-fleet serve --check        (looks at the settings, the store and the workflows, and serves nothing)

The first start makes a token for the administrator in DIR/tokens/admin. SIGTERM and SIGINT stop it: crabs are sent away, and what is
under way is answered.")]
pub struct ServeArgs {
    /// The gateway's folder: its tokens and its store [env: ORANGE_FLEET_DIR; default: ~/orange-fleet/gateway]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Address at which it listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8800")]
    listen: SocketAddr,
    /// Store of the missions: sqlite:FILE, or postgres://USER@HOST/DATABASE without a password [env: ORANGE_FLEET_STORE; default:
    /// sqlite:DIR/fleet.db]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// A folder whose `workflows/*.toml` missions can follow, beside the workflows that are built in
    #[arg(long, value_name = "DIR")]
    prompts_path: Vec<PathBuf>,
    /// The certificate of TLS, as PEM, with those that lead to its authority
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of TLS, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve other machines without TLS: everybody on the network can read the tokens
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_plain_http: bool,
    /// A name under which it is reached, beside `localhost` and addresses
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    host_name: Vec<String>,
    /// Seconds without a heartbeat, about, after which a step is given to another crab
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    lease: f64,
    /// The most connections at a time
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Days for which missions that have ended are kept; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = KEPT_BY_GATEWAYS)]
    keep: u32,
    /// Show the tasks and missions of this home of `orange` in the console, too, and let people answer them there
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The program `orange` for that [default: the one beside this program, else the one on PATH]
    #[arg(long, value_name = "FILE", requires = "home")]
    orange: Option<PathBuf>,
    /// A collector of OpenTelemetry that takes traces, as OTLP over HTTP, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    traces: Option<String>,
    /// Level of the log
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LogLevel,
    /// Look at the settings, the store and the workflows, and serve nothing
    #[arg(long)]
    check: bool,
}

/// Level of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    /// Problems that a person has to look at.
    Error,
    /// Everything that is wrong.
    Warn,
    /// Changes, and refusals.
    Info,
    /// Every request.
    Debug,
}

impl ServeArgs {
    pub(super) fn run(self) -> Result<Said> {
        logs::begin(match self.log {
            LogLevel::Error => log::LevelFilter::Error,
            LogLevel::Warn => log::LevelFilter::Warn,
            LogLevel::Info => log::LevelFilter::Info,
            LogLevel::Debug => log::LevelFilter::Debug,
        });
        let folder = folder(self.dir.as_deref())?;
        let store = StoreOption::named(self.store.as_deref(), &folder)?;
        let settings = self.settings(folder, &store)?;
        check(&settings)?;
        let machine = self
            .home
            .clone()
            .map(|home| LocalMachine::new(find_orange(self.orange.clone())?, home))
            .transpose()?;
        let workflows = ServedWorkflows::load(PLANS, &self.prompts_path)?;
        for (file, why) in &workflows.refused {
            log::error!(file = file.display().to_string().as_str(), why = why.as_str(); "a workflow is not served");
        }
        if self.check {
            Tokens::check(&settings.folder)?;
            store.check()?;
            return checked(&settings, &workflows);
        }
        // The folder is made for the tokens, and the store goes there, too.
        Tokens::open(&settings.folder)?;
        let _held = store.hold()?;
        served(settings, store.open()?, workflows, machine)
    }

    fn settings(&self, folder: PathBuf, store: &StoreOption) -> Result<GatewaySettings> {
        if !(self.lease >= SHORTEST_LEASE && self.lease <= 86_400.0) {
            return Err(Error::new(ErrorKind::Usage, "the lease is too short or too long")
                .help(format!("give {SHORTEST_LEASE} to 86400 seconds")));
        }
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
            }
            (Some(_), None) | (None, _) => None,
        };
        let connections = usize::try_from(self.connections).unwrap_or(usize::MAX);
        Ok(GatewaySettings {
            listen: self.listen,
            tls,
            is_plain_allowed: self.insecure_plain_http,
            host_names: self.host_name.clone(),
            lease: Duration::from_secs_f64(self.lease),
            keep: Some(Duration::from_secs(u64::from(self.keep) * 86_400)).filter(|it| !it.is_zero()),
            is_alone: store.is_of_one_gateway(),
            limits: Limits { connections, ..Limits::default() },
            traces: self.traces.clone(),
            ..GatewaySettings::new(folder)
        })
    }
}

fn host_name(text: &str) -> std::result::Result<String, String> {
    let is_name = !text.is_empty() && !text.contains(['/', ':', ' ']);
    let wrong = || "write the name alone, without `https://` and the port".to_owned();
    is_name.then(|| text.to_owned()).ok_or_else(wrong)
}

fn checked(settings: &GatewaySettings, workflows: &ServedWorkflows) -> Result<Said> {
    if !workflows.refused.is_empty() {
        let reasons: Vec<String> =
            workflows.refused.iter().map(|(file, why)| format!("{}: {why}", file.display())).collect();
        return Err(Error::new(
            ErrorKind::Refused,
            format!("workflows would not be served:\n{}", reasons.join("\n")),
        )
        .help("mend them; `orange-workflow check FILE` says more"));
    }
    let names: Vec<&str> = workflows.all().map(|it| it.name).collect();
    let warnings = workflows.warnings()?;
    let mut text = format!(
        "the gateway can serve on {}, from {}\nworkflows: {}",
        settings.listen,
        settings.folder.display(),
        names.join(", ")
    );
    text.extend(warnings.iter().map(|it| format!("\n\n{it}")));
    let json = json!({"listen": settings.listen.to_string(), "workflows": names, "warnings": warnings});
    Ok(Said { text, json })
}

/// Waits until the store takes nothing any more.
async fn lost(store: &dyn Host) -> Error {
    let mut news = store.news();
    while news.changed().await.is_ok() {}
    Error::new(ErrorKind::Environment, "the store takes nothing any more")
        .help("start the gateway again; the log says what went wrong before")
}

fn served(
    settings: GatewaySettings,
    host: Arc<dyn Host>,
    workflows: ServedWorkflows,
    machine: Option<LocalMachine>,
) -> Result<Said> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("no threads can be started: {cause}"))
            .help("look at `ulimit -u`")
    })?;
    runtime.block_on(until_stopped(settings, host, workflows, machine))?;
    Ok(Said { text: String::new(), json: json!({"stopped": true}) })
}

async fn until_stopped(
    settings: GatewaySettings,
    host: Arc<dyn Host>,
    workflows: ServedWorkflows,
    machine: Option<LocalMachine>,
) -> Result<()> {
    let listen_to = |kind| {
        signal(kind)
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("signals cannot be heard: {cause}")))
    };
    let (mut term, mut int) = (listen_to(SignalKind::terminate())?, listen_to(SignalKind::interrupt())?);
    let is_tls = settings.tls.is_some();
    let socket = OpenSocket::open(&settings).await?;
    let admin = settings.folder.join("tokens/admin");
    let store = Arc::clone(&host);
    let gateway = Gateway::new(settings, host, workflows, true)?;
    let pages = console::pages(&gateway, machine);
    let serving = serve(gateway, socket, Some(pages)).await?;
    let address = format!("{}://{}", if is_tls { "https" } else { "http" }, serving.address);
    log::info!(address = address.as_str(), pid = std::process::id(); "the gateway serves");
    // The program that starts it may have closed the output.
    let line = format!(
        "orange-fleet serves {address}; the administrator's token is in {}\nthe console is at {address}/console\n",
        admin.display()
    );
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).unwrap_or_default();
    drop(out);
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        error = lost(store.as_ref()) => return Err(error),
    }
    log::info!("the gateway stops");
    tokio::select! {
        () = serving.stop() => log::info!("the gateway has stopped"),
        _ = term.recv() => log::warn!("the gateway ends before everything was answered"),
        _ = int.recv() => log::warn!("the gateway ends before everything was answered"),
    }
    Ok(())
}
