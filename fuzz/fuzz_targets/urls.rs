//! The rules for addresses and headers: which URLs are the same page, which are skipped, what an
//! answer asks of a crawler.
//!
//! The input is four lines: a start page, a link, two headers.

#![no_main]

use std::time::Duration;

use cicerone_egress::retry_after;
use cicerone_ingestion::crawl::rules::{RobotsTag, Site, refusal};
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.split('\n');
    let mut next = || lines.next().unwrap_or_default();
    let (start, link) = (next(), next());
    check_headers(next(), next());
    if let Ok(start) = Url::parse(start)
        && let Some(site) = Site::of(&start)
    {
        check_site(&site, &start);
        if let Ok(linked) = start.join(link) {
            check_name(&site, &linked);
        }
    }
});

fn check_site(site: &Site, start: &Url) {
    assert!(site.contains(start), "{start} is not on its own site");
    assert!(site.name(start).is_some(), "{start} has no name");
    assert_eq!(site.at("/robots.txt").path(), "/robots.txt");
    assert!(site.contains(&site.at("/robots.txt")));
}

fn check_name(site: &Site, linked: &Url) {
    let Some(name) = site.name(linked) else {
        assert!(!site.contains(linked), "{linked} is on the site but has no name");
        return;
    };
    assert!(site.contains(&name), "{name} left the site");
    assert_eq!(site.name(&name).as_ref(), Some(&name), "the name of {linked} is not stable");
    assert_eq!(Url::parse(name.as_str()).as_ref(), Ok(&name), "{name} is parsed differently");
    assert!(name.fragment().is_none() && name.username().is_empty() && name.password().is_none());
    assert_eq!(Site::of(&name).map(|of| of.host_key()), Some(site.host_key()));
    assert!(refusal(&name).is_none_or(|reason| !reason.to_string().is_empty()));
}

fn check_headers(one: &str, other: &str) {
    let (first, second) = (RobotsTag::of([one]), RobotsTag::of([other]));
    let both = RobotsTag::of([one, other]);
    assert_eq!(both.is_noindex, first.is_noindex || second.is_noindex);
    assert_eq!(both.is_nofollow, first.is_nofollow || second.is_nofollow);

    let now = Duration::from_secs(1_800_000_000);
    let wait = retry_after(one, now);
    assert_eq!(retry_after(&format!(" {one} "), now), wait);
    let later = retry_after(one, now + Duration::from_secs(60));
    assert_eq!(later.is_some(), wait.is_some());
    assert!(later <= wait, "the wait grows over time");
    let minute = Duration::from_secs(60);
    assert!(wait.unwrap_or_default() - later.unwrap_or_default() <= minute);
}
