//! Redirects: judged hop by hop, followed by hand.

use cicerone_egress::header::{self, HeaderName, HeaderValue};
use cicerone_egress::{Egress, EgressError, Method, Request, Url};

use crate::site::{Site, allowing, always, neighbours, ok, open, redirect, url};

#[tokio::test]
async fn send_gives_a_redirect_as_it_is() {
    let site = Site::serve("127.0.0.1:0", |_| redirect(302, "/next")).await;
    let answer = open().send(Request::get(site.url("/"))).await.unwrap();
    assert_eq!(answer.status, 302);
    assert_eq!(answer.headers.get(header::LOCATION).unwrap(), "/next");
    assert_eq!(site.heads().len(), 1);
}

#[tokio::test]
async fn every_kind_of_redirect_is_followed_to_its_end() {
    let site = Site::serve("127.0.0.1:0", |path| match path {
        "/a" => redirect(301, "b?x=1#part"),
        "/b?x=1" => redirect(302, "/c/"),
        "/c/" => redirect(303, "../d"),
        "/d" => redirect(307, "?e"),
        "/d?e" => redirect(308, "//127.0.0.1:PORT/f"),
        _ => ok("end"),
    });
    let site = site.await;
    let answer = open().get_following(Request::get(site.url("/a")), 5, |_| true).await;
    // The fifth leads to a URL with an invalid port.
    assert!(matches!(answer.unwrap_err(), EgressError::BadRedirect));
    assert_eq!(site.heads().len(), 5);

    let site = Site::serve("127.0.0.1:0", |path| match path {
        "/a" => redirect(301, "b"),
        "/b" => redirect(308, "c"),
        _ => ok("end"),
    });
    let site = site.await;
    let answer = open().get_following(Request::get(site.url("/a")), 2, |_| true).await.unwrap();
    assert_eq!(answer.url, site.url("/c"));
    assert_eq!(answer.bytes(10).await.unwrap(), "end");
    assert_eq!(site.connections(), 1);
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_address_is_refused_however_it_is_written() {
    let (canary, site) = neighbours(|path| match path.strip_prefix("/to?") {
        Some(to) => redirect(302, to),
        None => ok("secret"),
    })
    .await;
    let names = always(&["127.0.0.2"]);
    let egress = Egress::new(allowing(&["127.0.0.2/32"]), names).unwrap();
    let port = canary.port();
    for to in [
        format!("http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http:\\\\127.0.0.1:{port}\\"),
        format!("http://ann@127.0.0.2:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://93.184.216.34:6379/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.2/".to_owned(),
    ] {
        let start = url(&format!("http://site.example.com:{port}/to?{to}"));
        let start = Url::parse(start.as_str()).unwrap();
        let outcome = egress.get_following(Request::get(start), 5, |_| true).await;
        let refusal = outcome.unwrap_err();
        assert!(matches!(refusal, EgressError::Refused(_)), "{to} {refusal:?}");
    }
    assert_eq!((site.connections(), canary.connections()), (1, 0));
}

#[tokio::test]
async fn a_redirect_to_a_name_that_leads_inside_is_refused() {
    let (canary, site) = neighbours(|path| match path {
        "/start" => redirect(302, "http://inside.example.com:80/"),
        _ => ok("secret"),
    })
    .await;
    let names = crate::site::resolver(|host: &str, _| {
        let is_inside = host == "inside.example.com";
        Ok(crate::site::ips(if is_inside { &["10.0.0.7"] } else { &["127.0.0.2"] }))
    });
    let egress = Egress::new(allowing(&["127.0.0.2/32"]), names).unwrap();
    let start = url(&format!("http://site.example.com:{}/start", site.port()));
    let refusal = egress.get_following(Request::get(start), 5, |_| true).await.unwrap_err();
    assert!(matches!(refusal, EgressError::Refused(_)), "{refusal:?}");
    assert_eq!((site.connections(), canary.connections()), (1, 0));
}

#[tokio::test]
async fn a_redirect_that_the_caller_does_not_follow_comes_with_its_target() {
    let site =
        Site::serve("127.0.0.1:0", |_| redirect(301, "http://elsewhere.example.com/x")).await;
    let start = site.url("/");
    let stay = |to: &Url| to.host() == start.host();
    let outcome = open().get_following(Request::get(start.clone()), 5, stay).await;
    match outcome.unwrap_err() {
        EgressError::Redirected { status, to } => {
            assert_eq!((status.as_u16(), to.as_str()), (301, "http://elsewhere.example.com/x"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_loop_ends_at_the_limit() {
    let site = Site::serve("127.0.0.1:0", |_| redirect(302, "/again")).await;
    for limit in [0, 1, 7] {
        let before = site.heads().len();
        let outcome = open().get_following(Request::get(site.url("/")), limit, |_| true).await;
        let error = outcome.unwrap_err();
        assert!(matches!(error, EgressError::TooManyRedirects { limit: l } if l == limit));
        assert!(!error.is_transient());
        assert_eq!(site.heads().len() - before, limit + 1);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_a_redirect_is_returned() {
    let site = Site::serve("127.0.0.1:0", |path| match path {
        "/without" => "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "/same" => redirect(304, "/x"),
        "/many" => redirect(300, "/x"),
        _ => redirect(200, "/x"),
    });
    let site = site.await;
    for path in ["/without", "/same", "/many", "/other"] {
        let request = Request::get(site.url(path));
        let answer = open().get_following(request, 3, |_| true).await.unwrap();
        assert_eq!(answer.url.path(), path);
    }
    assert_eq!(site.heads().len(), 4);
}

#[tokio::test]
async fn a_request_that_hands_something_over_is_not_followed() {
    let site = Site::serve("127.0.0.1:0", |_| redirect(307, "/x")).await;
    let request = Request::post(site.url("/"), "");
    assert_eq!(request.method, Method::POST);
    let answer = open().get_following(request, 3, |_| true).await.unwrap();
    assert_eq!((answer.status.as_u16(), site.heads().len()), (307, 1));
}

fn with_secrets(url: Url) -> Request {
    let mut session = HeaderValue::from_static("k1");
    session.set_sensitive(true);
    Request::get(url)
        .with_header(header::AUTHORIZATION, HeaderValue::from_static("Bearer t"))
        .with_header(header::COOKIE, HeaderValue::from_static("c=1"))
        .with_header(HeaderName::from_static("x-key"), session)
        .with_header(header::ACCEPT, HeaderValue::from_static("text/html"))
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Site::serve("127.0.0.1:0", |_| ok("other")).await;
    let away = format!("http://127.0.0.1:{}/there", other.port());
    let site = Site::serve("127.0.0.1:0", move |path| match path {
        "/a" => redirect(302, "/b"),
        _ => redirect(302, &away),
    });
    let site = site.await;
    open().get_following(with_secrets(site.url("/a")), 3, |_| true).await.unwrap();
    let secrets = ["authorization: Bearer t", "cookie: c=1", "x-key: k1"];
    for head in site.heads() {
        assert!(secrets.iter().all(|secret| head.contains(secret)), "{head}");
    }
    let heads = other.heads();
    let [head] = heads.as_slice() else { panic!() };
    assert!(!secrets.iter().any(|secret| head.contains(secret)), "{head}");
    assert!(!head.contains("referer"), "{head}");
    assert!(head.contains("accept: text/html") && head.contains("user-agent: Cicerone/"), "{head}");
}
