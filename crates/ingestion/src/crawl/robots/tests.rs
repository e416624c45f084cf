//! The examples that Google publishes: those of its page on how it interprets `robots.txt`, and those
//! of the unit tests of its parser, here as tables.

use std::time::Duration;

use url::Url;

use super::Robots;

fn allows(file: &str, agent: &str, url: &str) -> bool {
    Robots::parse(file.as_bytes(), agent).allows(&Url::parse(url).unwrap())
}

/// Checks cases of a file: the crawler, the address, whether it is allowed.
fn check(file: &str, cases: &[(&str, &str, bool)]) {
    for &(agent, url, expected) in cases {
        assert_eq!(allows(file, agent, url), expected, "`{agent}` at {url} by:\n{file}");
    }
}

/// Checks which paths one rule matches: those that match are disallowed by it.
fn check_rule(rule: &str, matching: &[&str], others: &[&str]) {
    let file = format!("user-agent: a\ndisallow: {rule}\n");
    for (paths, expected) in [(matching, false), (others, true)] {
        for path in paths {
            let url = format!("https://example.com{path}");
            assert_eq!(allows(&file, "a", &url), expected, "{rule} at {path}");
        }
    }
}

#[test]
fn the_documented_paths_match() {
    check_rule("/", &["/", "/any", "/a/b?c"], &[]);
    check_rule("/*", &["/", "/any", "/a/b?c"], &[]);
    check_rule("/$", &["/"], &["/any", "/?a"]);
    check_rule(
        "/fish",
        &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html"],
        &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    );
    check_rule("/fish", &["/fish.php?id=anything"], &[]);
    check_rule(
        "/fish*",
        &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.php?id=anything"],
        &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"],
    );
    check_rule(
        "/fish/",
        &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
        &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
    );
    check_rule(
        "/*.php",
        &[
            "/index.php",
            "/filename.php",
            "/folder/filename.php",
            "/folder/filename.php?parameters",
            "/folder/any.php.file.html",
            "/filename.php/",
        ],
        &["/", "/windows.PHP"],
    );
    check_rule(
        "/*.php$",
        &["/filename.php", "/folder/filename.php"],
        &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
    );
    check_rule(
        "/fish*.php",
        &["/fish.php", "/fishheads/catfish.php?parameters"],
        &["/Fish.PHP", "/fish.html"],
    );
}

#[test]
fn the_documented_precedence_holds() {
    let url = |path: &str| format!("http://example.com{path}");
    for (allow, disallow, path, expected) in [
        ("/p", "/", "/page", true),
        ("/folder", "/folder", "/folder/page", true),
        ("/page", "/*.htm", "/page.htm", false),
        ("/page", "/*.ph", "/page.php5", true),
        ("/$", "/", "/", true),
        ("/$", "/", "/page.htm", false),
    ] {
        let file = format!("user-agent: a\nallow: {allow}\ndisallow: {disallow}\n");
        assert_eq!(allows(&file, "a", &url(path)), expected, "{file}");
        let file = format!("user-agent: a\ndisallow: {disallow}\nallow: {allow}\n");
        assert_eq!(allows(&file, "a", &url(path)), expected, "{file}");
    }
}

#[test]
fn the_documented_groups_are_chosen() {
    let file = "user-agent: googlebot-news\nallow: /news\ndisallow: /\n\n\
                user-agent: *\nallow: /all\ndisallow: /\n\n\
                user-agent: googlebot\nallow: /bot\ndisallow: /\n";
    for (agent, path) in [
        ("Googlebot-News", "/news"),
        ("Googlebot", "/bot"),
        ("Googlebot-Image", "/all"),
        ("Otherbot", "/all"),
    ] {
        for other in ["/news", "/bot", "/all"] {
            let url = format!("https://example.com{other}");
            assert_eq!(allows(file, agent, &url), path == other, "{agent} at {other}");
        }
    }
}

#[test]
fn groups_for_one_crawler_are_merged() {
    let file = "user-agent: googlebot-news\ndisallow: /fish\n\n\
                user-agent: *\ndisallow: /carrots\n\n\
                user-agent: googlebot-news\ndisallow: /shrimp\n";
    check(
        file,
        &[
            ("googlebot-news", "https://example.com/fish", false),
            ("googlebot-news", "https://example.com/shrimp", false),
            ("googlebot-news", "https://example.com/carrots", true),
            ("other", "https://example.com/carrots", false),
            ("other", "https://example.com/fish", true),
        ],
    );
}

#[test]
fn an_empty_file_and_an_empty_crawler_allow_all() {
    check("", &[("FooBot", "http://foo.bar/x/y", true)]);
    check("user-agent: FooBot\ndisallow: /\n", &[("", "http://foo.bar/x/y", true)]);
}

#[test]
fn lines_are_read_as_they_are_meant() {
    let url = "http://foo.bar/x/y";
    let cases: [(&str, bool); 12] = [
        ("user-agent: FooBot\ndisallow: /\n", false),
        ("foo: FooBot\nbar: /\n", true),
        ("user-agent FooBot\ndisallow /\n", false),
        ("USER-AGENT: FooBot\nDISALLOW: /\n", false),
        ("user-agent: fOObOT\ndisallow: /\n", false),
        ("user-agent: FooBot # we\ndisallow: / # all\n", false),
        ("\u{feff}user-agent: FooBot\r\ndisallow: /\r\n", false),
        ("user-agent: FooBot\rdisallow: /\r", false),
        ("user-agent: FooBot\n\n\ndisallow: /", false),
        ("useragent: FooBot\ndisalow: /\n", false),
        ("user-agent:FooBot\n  disallow:/  \n", false),
        ("disallow: /\n", true),
    ];
    for (file, expected) in cases {
        assert_eq!(allows(file, "FooBot", url), expected, "{file:?}");
    }
    assert!(allows("user-agent: FooBot\nallow: /\ndisallow: /x/\n", "FooBot", "http://a/z"));
}

#[test]
fn groups_are_told_apart_by_their_rules_alone() {
    let file = "allow: /foo/bar/\n\n\
                user-agent: FooBot\ndisallow: /\nallow: /x/\n\
                user-agent: BarBot\ndisallow: /\nallow: /y/\n\n\n\
                allow: /w/\nuser-agent: BazBot\n\n\
                user-agent: FooBot\nallow: /z/\ndisallow: /\n";
    check(
        file,
        &[
            ("FooBot", "http://foo.bar/x/b", true),
            ("FooBot", "http://foo.bar/z/d", true),
            ("FooBot", "http://foo.bar/y/c", false),
            ("BarBot", "http://foo.bar/y/c", true),
            ("BarBot", "http://foo.bar/w/a", true),
            ("BarBot", "http://foo.bar/z/d", false),
            ("BazBot", "http://foo.bar/z/d", true),
            ("FooBot", "http://foo.bar/foo/bar/", false),
            ("BarBot", "http://foo.bar/foo/bar/", false),
            ("BazBot", "http://foo.bar/foo/bar/", false),
        ],
    );
}

#[test]
fn other_lines_do_not_end_a_group() {
    for line in ["Sitemap: https://foo.bar/sitemap", "Invalid-Unknown-Line: unknown"] {
        let file = format!("User-agent: BarBot\n{line}\nUser-agent: *\nDisallow: /\n");
        check(&file, &[("FooBot", "http://foo.bar/", false), ("BarBot", "http://foo.bar/", false)]);
    }
}

#[test]
fn a_crawler_is_its_product_token() {
    let url = "http://foo.bar/x";
    for (value, agent, expected) in [
        ("Foo Bar", "Foo", false),
        ("Foo/1.2", "Foo", false),
        ("Foo Bar", "Foo Bar", true),
        ("Foo", "Foobar", true),
        ("Foobar", "Foo", true),
        ("Foo-Bar", "Foo", true),
        ("*", "Foo", false),
        ("* baz", "Foo", false),
        ("*Foo", "Foo", true),
    ] {
        let file = format!("user-agent: {value}\ndisallow: /\n");
        assert_eq!(allows(&file, agent, url), expected, "{value} for {agent}");
    }
}

#[test]
fn the_group_for_all_counts_where_no_other_names_the_crawler() {
    let file = "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n";
    check(file, &[("FooBot", "http://a/x", false), ("BarBot", "http://a/x", true)]);
    check(
        "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\n",
        &[("QuxBot", "http://a/x", true)],
    );
    check(
        "user-agent: *\ndisallow: /\nuser-agent: FooBot\ndisallow:\n",
        &[("FooBot", "http://a/x", true), ("BarBot", "http://a/x", false)],
    );
    check("user-agent: *\ndisallow: /\nuser-agent: FooBot\n", &[("FooBot", "http://a/x", true)]);
}

#[test]
fn case_counts_in_paths() {
    check("user-agent: FooBot\ndisallow: /x/\n", &[("FooBot", "http://foo.bar/x/y", false)]);
    check("user-agent: FooBot\ndisallow: /X/\n", &[("FooBot", "http://foo.bar/x/y", true)]);
}

#[test]
fn the_longest_rule_decides() {
    let url = "http://foo.bar/x/page.html";
    for (rules, expected) in [
        ("disallow: /x/page.html\nallow: /x/", false),
        ("allow: /x/page.html\ndisallow: /x/", true),
        ("disallow:\nallow:", true),
        ("disallow: /\nallow: /", true),
        ("disallow: /x\nallow: /x/", true),
        ("disallow: /x/page.html\nallow: /x/page.html", true),
        ("allow: /page\ndisallow: /*.html", false),
        ("allow: /x/page.\ndisallow: /*.html", true),
        ("disallow: /x/\nallow: /x/\nallow: /x/page\ndisallow: /x/pag", true),
    ] {
        let file = format!("user-agent: FooBot\n{rules}\n");
        assert_eq!(allows(&file, "FooBot", url), expected, "{rules}");
    }
    let file = "user-agent: FooBot\ndisallow: /x\nallow: /x/\n";
    check(file, &[("FooBot", "http://foo.bar/x", false), ("FooBot", "http://foo.bar/x/", true)]);
    let both = "user-agent: *\ndisallow: /x/\nuser-agent: FooBot\ndisallow: /y/\n";
    check(both, &[("FooBot", "http://a/x/page", true), ("FooBot", "http://a/y/page", false)]);
}

#[test]
fn encodings_are_compared_in_one_form() {
    let file = |rule: &str| format!("user-agent: FooBot\ndisallow: /\nallow: {rule}\n");
    let query = "/foo/bar?qux=taz&baz=http://foo.bar?tar&par";
    for (rule, path) in [
        (query, query),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/ツ", "/foo/bar/ツ"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%e3%83%84", "/foo/bar/ツ"),
        // The RFC's table has these; Google's parser compares their letters as they are written.
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/foo/bar/%62%61%7A", "/foo/bar/%62%61%7A"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
    ] {
        let url = format!("http://foo.bar{path}");
        assert!(allows(&file(rule), "FooBot", &url), "{rule} at {path}");
    }
    assert!(
        !allows(&file("/a%2Fb"), "FooBot", "http://foo.bar/a/b"),
        "an encoded slash is not a slash"
    );
}

#[test]
fn stars_and_the_end_are_special() {
    check_rule("/foo/bar/quz", &["/foo/bar/quz"], &["/foo/quz", "/foo//quz", "/foo/bax/quz"]);
    check_rule("/foo/bar/*quz", &["/foo/bar/quz", "/foo/bar/x/quz"], &["/foo/quz"]);
    check_rule("/foo/*/qux", &["/foo/bar/qux", "/foo//qux"], &["/foo/qux"]);
    check_rule("*/a*b*c", &["/a/b/c", "/x/abc", "/aabbcc"], &["/acb", "/bca"]);
    check_rule("/foo/bar$", &["/foo/bar"], &["/foo/bar/qux", "/foo/bar/", "/foo/bar/baz"]);
    check_rule("/a$b", &["/a$b", "/a$bc"], &["/a", "/ab"]);
    check_rule("/*a$", &["/a", "/ba", "/aba"], &["/ab"]);
    check_rule("/ab*ba$", &["/abba", "/ab-ba"], &["/aba"]);
    check_rule("fish", &[], &["/fish", "/"]);
}

#[test]
fn an_index_page_is_its_folder() {
    let file = "user-agent: *\nallow: /allowed-slash/index.html\ndisallow: /\n";
    check(
        file,
        &[
            ("foobot", "http://foo.com/allowed-slash/", true),
            ("foobot", "http://foo.com/allowed-slash/index.htm", false),
            ("foobot", "http://foo.com/allowed-slash/index.html", true),
            ("foobot", "http://foo.com/anyother-url", false),
        ],
    );
}

#[test]
fn a_line_counts_as_far_as_it_is_not_too_long() {
    let long = format!("/x/{}", "a".repeat(super::LINE_BYTES - "disallow: /x/".len()));
    let file = format!("user-agent: FooBot\ndisallow: {long}/qux\n");
    check(
        &file,
        &[
            ("FooBot", "http://foo.bar/fux", true),
            ("FooBot", &format!("http://foo.bar{long}/fux"), false),
        ],
    );
    let file = format!("{}\nuser-agent: a\ndisallow: /", "#".repeat(super::FILE_BYTES));
    assert!(allows(&file, "a", "http://foo.bar/"), "beyond 500 KiB");
}

#[test]
fn the_file_itself_is_always_allowed() {
    check("user-agent: *\ndisallow: /\n", &[("a", "http://foo.bar/robots.txt", true)]);
}

#[test]
fn only_path_and_query_are_compared() {
    check_rule("/a?b", &["/a?b", "/a?bc#d"], &["/a", "/a#?b"]);
    check("user-agent: a\ndisallow: /$\n", &[("a", "http://foo.bar", false)]);
}

#[test]
fn delays_and_sitemaps_are_read() {
    let file = "Sitemap: https://a/1.xml\nuser-agent: *\ncrawl-delay: 2.5\nuser-agent: Foo\n\
                crawl-delay: 10\ndisallow: /x\n  site-map :  https://a/2.xml  \n";
    let parse = |agent| Robots::parse(file.as_bytes(), agent);
    assert_eq!(parse("Bar").crawl_delay, Some(Duration::from_secs(10)), "it is in the group too");
    assert_eq!(parse("Foo").crawl_delay, Some(Duration::from_secs(10)));
    assert_eq!(parse("Foo").sitemaps, ["https://a/1.xml", "https://a/2.xml"]);
    for value in ["-1", "NaN", "inf", "soon", "", "1e400"] {
        let file = format!("user-agent: *\ncrawl-delay: {value}\n");
        assert_eq!(Robots::parse(file.as_bytes(), "a").crawl_delay, None, "{value}");
    }
}

#[test]
fn no_file_is_bad() {
    let files: [&[u8]; 5] =
        [b"\0\0\0", b"\xff\xfe\0u", b"user-agent: *\ndisallow: /\xff\n", b":::", b"<html>"];
    for file in files {
        assert!(Robots::parse(file, "a").allows(&Url::parse("http://foo.bar/").unwrap()));
    }
}

#[test]
fn a_hostile_pattern_costs_little() {
    let file = format!("user-agent: *\ndisallow: /{}b$\n", "*a".repeat(5_000));
    let url = format!("http://foo.bar/{}", "a".repeat(20_000));
    assert!(allows(&file, "a", &url));
}

#[test]
fn the_longest_beginning_is_found_among_others() {
    let file = "user-agent: a\ndisallow: /\nallow: /a\ndisallow: /ab\nallow: /abc\ndisallow: /abcd$\n\
                disallow: /abd\nallow: /abd$\ndisallow: /b/\nallow: /b/\n";
    for (path, expected) in [
        ("/", false),
        ("/a", true),
        ("/aa", true),
        ("/ab", false),
        ("/abb", false),
        ("/abc", true),
        ("/abcd", false),
        ("/abcde", true),
        ("/abd", true),
        ("/abda", false),
        ("/b", false),
        ("/b/c", true),
    ] {
        let url = format!("http://foo.bar{path}");
        assert_eq!(allows(file, "a", &url), expected, "{path}");
    }
}

#[test]
fn of_too_many_rules_with_stars_the_rest_is_obeyed_too_strictly() {
    let first: String = (0..super::rules::STAR_RULES).map(|n| format!("allow: /{n}*x\n")).collect();
    let file = format!(
        "user-agent: a\n{first}disallow: /\nallow: /0*x\ndisallow: /shop/*print\nallow: /open/*x\n\
         allow: /shop/all/of/them/are/allowed\n"
    );
    for (path, expected) in [
        ("/0x", true),
        ("/999/x", true),
        // The rule is not beyond the bound, because an equal one is before it.
        ("/0/x", true),
        ("/open/x", false),
        ("/shop/print", false),
        ("/shop/all/of/them/are/allowed", false),
        ("/sho", false),
    ] {
        let url = format!("http://foo.bar{path}");
        assert_eq!(allows(&file, "a", &url), expected, "{path}");
    }
    let long = "y".repeat(16_000);
    let many: String = (0..5).map(|n| format!("disallow: /{n}*{long}\n")).collect();
    let file = format!("user-agent: a\n{many}");
    assert!(allows(&file, "a", "http://foo.bar/3"), "four rules are within 64 KiB");
    assert!(!allows(&file, "a", "http://foo.bar/4"), "the fifth is not");
}
