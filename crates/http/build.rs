//! Takes the three files of Swagger UI that are served out of its release, which is a ZIP file of 1.7 MB with 711 files. They
//! stay as they are there: compressed by DEFLATE (RFC 1951), and the picture stored.

use std::borrow::Cow;
use std::error::Error;
use std::io::{Cursor, Read as _};
use std::path::PathBuf;

use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::{CompressionMethod, ZipArchive};

const FILES: [(&str, CompressionMethod); 3] = [
    ("swagger-ui-bundle.js", CompressionMethod::DEFLATE),
    ("swagger-ui.css", CompressionMethod::DEFLATE),
    ("favicon-32x32.png", CompressionMethod::STORE),
];

#[expect(clippy::disallowed_methods, reason = "Cargo tells a build script where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("`OUT_DIR` is not set")?);
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for (name, method) in FILES {
        let end = format!("/dist/{name}");
        let is_it = |path: &str| path.ends_with(&end) && path.matches('/').count() == 2;
        let path = archive.file_names().flatten().find(|path| is_it(path)).map(Cow::into_owned);
        let path = path.ok_or_else(|| format!("Swagger UI has no `{name}`"))?;
        let index = archive.index_for_name(&path).ok_or("a name without a file")?;
        let mut file = archive.by_index_raw(index)?;
        if file.compression() != method {
            return Err(format!("`{name}` is compressed by {}", file.compression()).into());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
