//! The configuration: the environment overrides the file, the file overrides the defaults. Parsed
//! and checked once.

mod egress;
mod environment;
mod load;
mod reference;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cicerone_domain::access::{KeySecret, ParseKeyError};
use cicerone_domain::agent::MODELS;
use cicerone_domain::{Clock, Entropy, PublicUrl, SystemClock, SystemEntropy};
use cicerone_http::McpSettings;
use cicerone_llm::{Embeddings, Models};
use cicerone_storage::DatabaseUrl;
use ipnet::IpNet;
use tracing::level_filters::LevelFilter;

pub(crate) use environment::{Environment, process_environment, unknown as unknown_variables};
pub(crate) use load::{ConfigurationError, ignored_model, load};
pub(crate) use reference::reference;
pub(crate) use settings::{HttpSection, LogFormat, Settings};

use egress::parse_networks;

/// The settings, with the values in them parsed.
#[derive(Debug, Clone)]
pub(crate) struct Configuration {
    /// The file that they were read from.
    file: Option<PathBuf>,
    pub(crate) settings: Settings,
    pub(crate) database: DatabaseUrl,
    /// The store of uploads, as a URL.
    pub(crate) object_store_url: String,
    /// The key of the account `default` with all permissions.
    pub(crate) root_key: Option<KeySecret>,
    /// Private ranges that crawls and webhooks may reach.
    pub(crate) egress_allow: Vec<IpNet>,
    /// The public address of the server.
    pub(crate) public_url: Option<PublicUrl>,
    /// The MCP interface.
    pub(crate) mcp: McpSettings,
}

impl Configuration {
    /// Checks settings and parses their values. The error names the setting by its key in the file.
    fn parse(settings: Settings, file: Option<PathBuf>) -> Result<Self, (&'static str, String)> {
        check_bind(&settings.bind).map_err(|message| ("bind", message))?;
        let database = match &settings.database_url {
            Some(url) => {
                DatabaseUrl::parse(url).map_err(|error| ("database_url", error.to_string()))?
            }
            None => DatabaseUrl::sqlite(settings.data_dir.join("cicerone.db")),
        };
        let object_store_url = match &settings.object_store_url {
            Some(url) => url.clone(),
            None => format!("file:{}", settings.data_dir.join("objects").display()),
        };
        check_object_store(&object_store_url).map_err(|message| ("object_store_url", message))?;
        let root_key = match &settings.root_key {
            Some(key) => Some(
                key.reveal()
                    .parse()
                    .map_err(|error: ParseKeyError| ("root_key", error.to_string()))?,
            ),
            None => None,
        };
        let egress_allow =
            parse_networks(&settings.egress_allow).map_err(|message| ("egress_allow", message))?;
        let public_url = settings.public_url.as_deref().map(PublicUrl::parse).transpose();
        let public_url = public_url.map_err(|message| ("public_url", message))?;
        if let Err(error) = tracing_subscriber::EnvFilter::try_new(&settings.log) {
            return Err(("log", format!("is not a log filter such as `info`: {error}")));
        }
        check_log(&settings.log).map_err(|message| ("log", message))?;
        settings.check_numbers()?;
        settings.check_ocr()?;
        if settings.http.book_widget.is_some() && !settings.http.widgets {
            let message = "needs widgets, which `http.widgets = false` turns off";
            return Err(("http.book_widget", message.to_owned()));
        }
        let mcp = McpSettings::new(settings.mcp.enabled, &settings.mcp.hosts, public_url.as_ref())
            .map_err(|error| ("mcp.hosts", error.to_string()))?;
        Ok(Self {
            file,
            settings,
            database,
            object_store_url,
            root_key,
            egress_allow,
            public_url,
            mcp,
        })
    }

    /// The models that these settings describe; `environment` contains their API keys.
    pub(crate) fn models(&self, environment: &Environment) -> Result<Models, ConfigurationError> {
        let secret = |variable: &str| environment.get(variable).cloned();
        let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) =
            (Arc::new(SystemClock), Arc::new(SystemEntropy));
        Models::new(self.settings.models.clone(), secret, &clock, &entropy)
            .map_err(|error| load::model_error(environment, self.file.as_deref(), &error))
    }

    /// The embeddings upstream that these settings describe, if any; `environment` contains its
    /// key.
    pub(crate) fn embeddings(
        &self,
        environment: &Environment,
    ) -> Result<Option<Embeddings>, ConfigurationError> {
        let secret = |variable: &str| environment.get(variable).cloned();
        Embeddings::new(&self.settings.embeddings, secret, Arc::new(SystemClock))
            .map_err(|error| load::model_error(environment, self.file.as_deref(), &error))
    }

    /// Model names that the file defines beyond the built-in ones.
    pub(crate) fn extra_models(&self) -> Vec<String> {
        let names = self.settings.models.routes.keys();
        names.filter(|name| !MODELS.contains(&name.as_str())).cloned().collect()
    }

    /// The settings in effect, with every default filled in and without secrets.
    pub(crate) fn shown(&self) -> Settings {
        let settings = self.settings.clone();
        Settings {
            database_url: Some(self.database.to_string()),
            object_store_url: Some(self.object_store_url.clone()),
            egress_allow: self.egress_allow.iter().map(IpNet::to_string).collect(),
            log_format: Some(settings.log_format()),
            http: HttpSection { threads: Some(settings.http().threads), ..settings.http },
            ..settings
        }
    }

    /// The data directory.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.settings.data_dir
    }

    /// The folder of the search index.
    pub(crate) fn index_dir(&self) -> PathBuf {
        self.data_dir().join("index")
    }

    /// Whether no other process can share the database with this one.
    pub(crate) fn is_embedded(&self) -> bool {
        self.database.sqlite_path().is_some()
    }
}

/// `HOST:PORT`, where the host may be a name or an address.
fn check_bind(text: &str) -> Result<(), String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => Ok(()),
        Some(Err(_)) | None => {
            Err(format!("must be an address and port such as `127.0.0.1:8080`, not `{text}`"))
        }
    }
}

/// Refuses a word that is not a level. The filter would take it for the name of a module, and write no other lines.
fn check_log(filter: &str) -> Result<(), String> {
    let mut words = filter.split(',').map(str::trim).filter(|word| !word.is_empty());
    let is_level = |word: &str| word.parse::<LevelFilter>().is_ok();
    match words.find(|word| !word.contains(['=', '[']) && !is_level(word)) {
        None => Ok(()),
        Some(word) => Err(format!(
            "has `{word}`, which is not a level (`error`, `warn`, `info`, `debug`, `trace`); for a module, name \
             the level too, such as `{word}=debug`"
        )),
    }
}

fn check_object_store(url: &str) -> Result<(), String> {
    match url.split_once(':') {
        Some(("file" | "s3", place)) if !place.trim_start_matches('/').is_empty() => Ok(()),
        Some(_) | None => Err(format!("must be `file:PATH` or `s3://BUCKET/PREFIX`, not `{url}`")),
    }
}

#[cfg(test)]
mod tests;
