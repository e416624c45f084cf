//! A reader that knows just enough of HTML for these tests.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::{Id, UploadType, kind, limits};
use cicerone_ingestion::{PageReading, Prepared, ReadPage, Reading, Unreadable};
use parking_lot::Mutex;
use url::Url;

/// Reads titles, links, `base`, canonical addresses and robots elements, and counts what it reads.
#[derive(Clone, Default)]
pub(crate) struct Reader {
    read: Arc<Mutex<Vec<String>>>,
}

impl Reader {
    /// The pages that were read since the last time, in order.
    pub(crate) fn take_read(&self) -> Vec<String> {
        std::mem::take(&mut self.read.lock())
    }
}

#[async_trait]
impl ReadPage for Reader {
    fn for_account(&self, _account: Id<kind::Account>) -> Arc<dyn ReadPage> {
        Arc::new(self.clone())
    }

    async fn page(
        &self,
        url: &Url,
        bytes: Bytes,
        _charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable> {
        self.read.lock().push(url.path().to_owned());
        let html = String::from_utf8(bytes.to_vec()).unwrap();
        if html.contains("UNREADABLE") {
            return Err(Unreadable("the page is too deep".to_owned()));
        }
        read(url, &html).try_map(|reading| reading.cut(limits::DOCUMENT_TEXT_BYTES))
    }

    async fn file(
        &self,
        kind: UploadType,
        bytes: Bytes,
        _charset: Option<&str>,
    ) -> Result<Prepared, Unreadable> {
        let title = (kind == UploadType::Pdf).then(|| "A PDF".to_owned());
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut reading = Reading::default();
        (reading.title, reading.text) = (title, text);
        reading.cut(limits::DOCUMENT_TEXT_BYTES)
    }
}

fn read(url: &Url, html: &str) -> PageReading {
    let mut page: PageReading = PageReading::default();
    let (mut base, mut in_title) = (url.clone(), false);
    for part in html.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        let attribute = |name: &str| {
            let start = tag.find(&format!("{name}=\""))? + name.len() + 2;
            tag[start..].split('"').next()
        };
        let target = |base: &Url| base.join(attribute("href")?).ok();
        let has = |name: &str, value: &str| attribute(name).is_some_and(|own| own.contains(value));
        match tag.split_whitespace().next().unwrap_or_default() {
            "title" => in_title = true,
            "base" => base = target(&base).unwrap(),
            "a" if !has("rel", "nofollow") => {
                let mut link = target(&base).unwrap();
                link.set_fragment(None);
                page.links.push(link.into());
            }
            "link" if has("rel", "canonical") => page.canonical = target(&base).map(String::from),
            "meta" => {
                page.is_noindex |= has("content", "noindex");
                page.is_nofollow |= has("content", "nofollow");
                let refresh = attribute("content").and_then(|content| content.split_once("url="));
                page.refresh = refresh.map(|(_, next)| base.join(next).unwrap().into());
            }
            "div" if has("id", "root") => page.needs_javascript = true,
            _ => in_title = false,
        }
        if in_title {
            page.reading.title = Some(text.to_owned());
            in_title = false;
        } else {
            page.reading.text.push_str(text);
        }
    }
    page
}
