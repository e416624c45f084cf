//! Arguments of `cicerone import`.

use clap::Args;

pub(super) const HELP: &str = "\
Examples:
  export CICERONE_API_KEY=ck_…
  cicerone import --agent agent_8kd02JwQ1z faq.csv
  cicerone import --agent agent_8kd02JwQ1z docs/ https://example.com/sitemap.xml
  cicerone import --agent agent_8kd02JwQ1z chatbase.json --json > report.json

Each input is one of:
  a CSV file of pairs       with the columns `question` and `answer`, or two columns without names
  a JSON file               pairs, or what Chatbase exports and its API returns
  a folder, another file    every file that the service reads becomes a source
  a sitemap                 every page becomes a source; an address, or a file (.xml or .xml.gz)

Progress goes to standard error. Standard output gets a report of what was not taken and why. Exits with 1 if nothing \
was taken, or if the import stopped early. docs/as-code.md has more.";

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The agent that gets the sources.
    #[arg(long, value_name = "ID")]
    pub(crate) agent: String,
    /// The address of the server [default: http://127.0.0.1:8080].
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The maximum number of pages taken from sitemaps.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    pub(crate) pages: usize,
    /// Send nothing; report what would be sent.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not wait until the sources are trained.
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// How long to wait for all sources together.
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    pub(crate) timeout_seconds: u64,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Files, folders and addresses of sitemaps.
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<String>,
}
