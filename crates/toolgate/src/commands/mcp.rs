//! `toolgate mcp`: the tools for any MCP client.

mod listen;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use toolgate_core::context::Session;
use toolgate_core::visible;
use toolgate_mcp::server::{Eras, HttpSettings, Offers, PATH, Server, ServerSettings, Sessions};
use toolgate_mcp::servers::{Gateway, Naming};

use self::listen::Address;
use crate::app::App;
use crate::global::GlobalArgs;
use crate::servers;

/// A client that starts a server greets it and lists its tools well within this.
const STARTED: Duration = Duration::from_millis(400);

/// Serve the tools to MCP clients
///
/// Speaks on standard input and output until the client ends the connection,
/// or over HTTP until it is ended. A connection is a session. What the policy
/// asks about is asked through the client where its answer is worth enough, and
/// waits for `toolgate approvals` otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    /// Serve over HTTP instead, at this port of this machine or at ADDRESS:PORT
    #[arg(long, value_name = "ADDRESS")]
    http: Option<Address>,
    /// File with the token that requests must bring; beyond this machine there must be one, here
    /// or in `TOOLGATE_MCP_TOKEN`
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Stand in front of the one server that is enabled: its tools alone, under their own names
    #[arg(long)]
    no_prefix: bool,
    /// Name that this machine goes by
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// Origin of web pages that may connect, such as `https://inspector.example`
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
}

pub(crate) fn run(global: &GlobalArgs, args: &McpArgs) -> anyhow::Result<ExitCode> {
    let naming = if args.no_prefix { Naming::Own } else { Naming::Prefixed };
    let app = App::for_serving(global, naming)?;
    let gateway = Gateway::new(app.behind.servers.clone(), app.behind.wait());
    let settings = ServerSettings {
        offers: (!app.behind.servers.is_empty()).then(|| Arc::new(gateway) as Arc<dyn Offers>),
        eras: Eras::Both,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: visible::path(app.session.workspace().root()),
        dialect: global.dialect,
        hidden: global.exclude_tools.clone(),
        patience: app.patience,
    };
    // Those who name a session share it.
    let sessions = match &global.session {
        Some(_) => Sessions::one(Arc::clone(&app.session)),
        None => each_its_own(&app),
    };
    let server = Server::new(app.gate.clone(), sessions, &app.elicitation, settings);
    match &args.http {
        None => app.block_on(async {
            tokio::spawn(rest());
            begin(&app, naming).await;
            let served = server.serve_standard_streams(&app.cancellation).await;
            app.behind.servers.stop().await;
            served
        })??,
        Some(address) => {
            let settings = HttpSettings {
                token: listen::token(args.token_file.as_deref())?,
                hosts: args.allow_host.clone(),
                origins: args.allow_origin.clone(),
            };
            app.block_on(serve_http(&app, &server, naming, (address, settings), global.quiet))??;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the servers behind the gate. What stands in front of a single one says what that says,
/// so it has to be there first.
async fn begin(app: &App, naming: Naming) {
    app.behind.start_all();
    match naming {
        Naming::Own => app.behind.servers.settled(app.behind.wait()).await,
        Naming::Prefixed => app.behind.discover().await,
    }
}

/// Gives back what only the start needed, once the client had time to look around.
async fn rest() {
    tokio::time::sleep(STARTED).await;
    toolgate_sandbox::memory::give_back();
}

/// A new session for each connection. Folders that its client names count as workspace where the
/// user trusts them.
fn each_its_own(app: &App) -> Sessions {
    let (workspace, dialect) = (app.session.workspace().clone(), app.session.dialect());
    Sessions::each(move |folders| {
        let mut workspace = workspace.clone();
        for folder in folders {
            if servers::is_trusted(folder) {
                // One that is no folder any more adds nothing.
                workspace.add(folder).ok();
            }
        }
        Arc::new(Session::new(workspace).with_dialect(dialect))
    })
}

async fn serve_http(
    app: &App,
    server: &Server,
    naming: Naming,
    (address, settings): (&Address, HttpSettings),
    quiet: bool,
) -> anyhow::Result<()> {
    let listener = address.listen().await?;
    let bound = listener.local_addr().context("the address is not known")?;
    // Otherwise it ends at once, and says why.
    let serves = settings.token.is_some() || bound.ip().is_loopback();
    if serves && !quiet {
        writeln!(anstream::stderr(), "serving at http://{bound}{PATH}").ok();
    }
    begin(app, naming).await;
    let served = server.serve_http(listener, settings, &app.cancellation).await;
    app.behind.servers.stop().await;
    served.map_err(listen::explained)
}
