//! A gateway for the tests, with a store of its own.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use orange_fleet::console;
use orange_fleet::console::machine::LocalMachine;
use orange_fleet::host::Host;
use orange_fleet::host::sqlite::SqliteHost;
use orange_fleet::plans::PLANS;
use orange_fleet::serve::auth::{Rights, Tokens};
use orange_fleet::serve::settings::TlsFiles;
use orange_fleet::serve::workflows::ServedWorkflows;
use orange_fleet::serve::{self, GatewaySettings, OpenSocket, Serving};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Stand-in for `orange`: it answers with the lists of its home, and writes down its other calls, with their input.
const ORANGE: &str = r#"#!/bin/sh
cd "$ORANGE_HOME" || exit 5
case "$2 $3" in
  'task list') cat tasks.json ;;
  'mission list') cat missions.json ;;
  *) { echo "$@"; cat; echo; } >>asked; printf '{}' ;;
esac
"#;

/// A gateway. It can be stopped and started again, with the same store and address.
pub(crate) struct ConsoleGateway {
    pub(crate) runtime: Runtime,
    folder: TempDir,
    address: SocketAddr,
    tls: Option<TlsFiles>,
    running: Option<(Arc<serve::Gateway>, Serving)>,
}

impl ConsoleGateway {
    /// A gateway that has just been started. Its leases never end by themselves.
    pub(crate) fn start() -> ConsoleGateway {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let folder = tempfile::tempdir().unwrap();
        let mut gateway = ConsoleGateway { runtime, folder, address, tls: None, running: None };
        gateway.fill_home();
        gateway.go_on();
        gateway
    }

    /// A gateway with TLS, with a certificate for which nobody vouches.
    pub(crate) fn start_secure() -> ConsoleGateway {
        let mut gateway = ConsoleGateway::start();
        gateway.stop();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let files = [("cert.pem", made.cert.pem()), ("key.pem", made.signing_key.serialize_pem())];
        let [certificate, key] = files.map(|(name, text)| {
            let file = gateway.folder.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            file
        });
        gateway.tls = Some(TlsFiles { certificate, key });
        gateway.go_on();
        gateway
    }

    /// A file of the home whose work this gateway shows.
    pub(crate) fn in_home(&self, name: &str) -> PathBuf {
        self.folder.path().join("home").join(name)
    }

    fn fill_home(&self) {
        fs::create_dir(self.in_home("")).unwrap();
        let answers = [
            ("tasks.json", include_str!("../../../dashboard/src/tests/tasks.json")),
            ("missions.json", include_str!("../../../dashboard/src/tests/missions.json")),
            ("orange", ORANGE),
        ];
        for (name, text) in answers {
            fs::write(self.in_home(name), text).unwrap();
        }
        fs::set_permissions(self.in_home("orange"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn host(&self) -> Arc<dyn Host> {
        self.running.as_ref().unwrap().0.host.clone()
    }

    /// The token of its administrator.
    pub(crate) fn token(&self) -> String {
        Tokens::admin(self.folder.path()).unwrap()
    }

    /// Another token, which can be revoked.
    pub(crate) fn new_token(&self, rights: Rights) -> String {
        self.running.as_ref().unwrap().0.tokens.make("test", rights).unwrap()
    }

    /// Makes a token worthless.
    pub(crate) fn revoke(&self, token: &str) {
        let id = token.split('_').nth(1).unwrap();
        self.running.as_ref().unwrap().0.tokens.revoke(id).unwrap();
    }

    /// The address of a page.
    pub(crate) fn at(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// Stops it: open connections are let go.
    pub(crate) fn stop(&mut self) {
        let (gateway, serving) = self.running.take().unwrap();
        self.runtime.block_on(serving.stop());
        drop(gateway);
    }

    /// Starts it where it was.
    pub(crate) fn go_on(&mut self) {
        let folder: &Path = self.folder.path();
        let mut settings = GatewaySettings::new(folder);
        settings.listen = self.address;
        settings.tls = self.tls.clone();
        settings.lease = Duration::from_secs(7_200);
        let host: Arc<dyn Host> = Arc::new(SqliteHost::open(&folder.join("fleet.db")).unwrap());
        let workflows = ServedWorkflows::load(PLANS, &[]).unwrap();
        let machine = LocalMachine::new(self.in_home("orange"), self.in_home("")).unwrap();
        let running = self.runtime.block_on(async {
            let socket = OpenSocket::open(&settings).await.unwrap();
            let gateway = serve::Gateway::new(settings, host, workflows, true).unwrap();
            let pages = console::pages(&gateway, Some(machine));
            let serving = serve::serve(Arc::clone(&gateway), socket, Some(pages)).await.unwrap();
            (gateway, serving)
        });
        self.address = running.1.address;
        self.running = Some(running);
    }
}
