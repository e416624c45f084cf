//! Fetches a public address to standard output, following redirects.
//!
//! ```sh
//! cargo run --package cicerone-egress --example fetch -- https://example.com/ [RANGE TO ALLOW]…
//! ```

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use cicerone_egress::{Egress, EgressSettings, IpNet, Request, SystemResolver, Url};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url: Url = arguments.next().ok_or("usage: fetch URL [RANGE TO ALLOW]…")?.parse()?;
    let allow = arguments.map(|range| range.parse()).collect::<Result<Vec<IpNet>, _>>()?;

    let settings = EgressSettings { allow, ..EgressSettings::default() };
    let egress = Egress::new(settings, Arc::new(SystemResolver))?;
    let mut answer = egress.get_following(Request::get(url), 10, |_| true).await?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "{} {}", answer.status, answer.url)?;
    while let Some(chunk) = answer.chunk().await? {
        out.write_all(&chunk)?;
    }
    Ok(())
}
