//! A server that shows everything the protocol has, for tests: `everything [--legacy|--modern]
//! [--http ADDRESS:PORT]`. It speaks on the standard streams, or says on standard error where it
//! serves.
#![expect(clippy::unwrap_used, reason = "this is for tests")]

#[path = "everything.rs"]
mod fixture;

use std::env;
use std::error::Error;
use std::io::{self, Write as _};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolgate_mcp::server::{Eras, HttpSettings, PATH};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut eras, mut http) = (Eras::Both, None);
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--legacy" => eras = Eras::Legacy,
            "--modern" => eras = Eras::Modern,
            "--http" => http = Some(args.next().ok_or("`--http` wants ADDRESS:PORT")?),
            other => return Err(format!("there is no `{other}`").into()),
        }
    }
    let server = fixture::server(eras);
    let stop = CancellationToken::new();
    let Some(address) = http else { return Ok(server.serve_standard_streams(&stop).await?) };
    let listener = TcpListener::bind(address).await?;
    writeln!(io::stderr(), "serving at http://{}{PATH}", listener.local_addr()?)?;
    Ok(server.serve_http(listener, HttpSettings::default(), &stop).await?)
}
