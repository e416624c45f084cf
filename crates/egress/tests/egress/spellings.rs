//! How addresses are written, and what becomes of them without any resolution.

use cicerone_egress::{Egress, Reason, Url};

use crate::site::{allowing, always};

/// `verdict URL`, with nothing allowed. `invalid` is what the URL parser refuses by itself.
const CLOSED: &str = r"
ok          http://example.com
ok          http://example.com/
ok          https://example.com/path?query#fragment
ok          HTTP://EXAMPLE.COM/
ok          http:example.com
ok          http:\\example.com\
ok          http:/example.com
ok          http:///example.com
ok          http://example.com.
ok          http://example.com:
ok          http://example.com:80/
ok          https://example.com:443/
ok          http://example.com:8080/
ok          http://example.com:65535/
ok          http://example.com:00080/
ok          http://bücher.example.org/
ok          http://xn--bcher-kva.example.org/
ok          http://EXAMPLE。com/
ok          http://ex%61mple.com/
ok          http://localhost.example.com/
ok          http://127.0.0.1.nip.io/
ok          http://10.0.0.1.example.com/
ok          http://notlocalhost.com/
ok          http://internal.example.com/
ok          http://my-internal.org/
ok          http://metadata.example.com/
ok          http://8.8.8.8/
ok          http://8.8.8.8:8080/
ok          http://134744072/
ok          http://0x08080808/
ok          http://010.010.010.010/
ok          http://8.8.2056/
ok          http://8.526344/
ok          http://[2606:4700:4700::1111]/
ok          http://[2606:4700:4700:0:0:0:0:1111]:8443/
ok          http://[::ffff:8.8.8.8]/
ok          http://[64:ff9b::808:808]/
ok          http://169.255.169.254/
ok          http://172.32.0.1/
ok          http://100.128.0.1/

scheme      ftp://example.com/
scheme      file:///etc/passwd
scheme      file://localhost/etc/passwd
scheme      gopher://example.com:70/_x
scheme      dict://example.com:11211/stats
scheme      ldap://example.com/
scheme      ws://example.com/
scheme      wss://example.com/
scheme      javascript:alert(1)
scheme      data:text/html,x
scheme      mailto:ann@example.com
scheme      tftp://example.com/x
scheme      jar:http://example.com/x!/
scheme      view-source:http://example.com/
scheme      blob:http://example.com/x
scheme      about:blank
scheme      unix:/run/docker.sock
scheme      httpx://example.com/

credentials http://ann@example.com/
credentials http://ann:pw@example.com/
credentials http://:pw@example.com/
credentials http://example.com@127.0.0.1/
credentials http://127.0.0.1@example.com/
credentials http://example.com:80@127.0.0.1:80/
credentials http://ann%40x:p@example.com/
credentials http://a:b@c@example.com/
credentials http:/\ann@example.com/
credentials http://example.com%2f@127.0.0.1/

invalid     http://
invalid     http:///
invalid     http://:80/
invalid     http://@/
invalid     http://example.com:65536/
invalid     http://example.com:8o/
invalid     http://exa mple.com/
invalid     http://exa<mple.com/
invalid     http://exa%00mple.com/
invalid     http://256.256.256.256/
invalid     http://1.2.3.4.5/
invalid     http://x.08.09/
invalid     http://0x100000000/
invalid     http://4294967296/
invalid     http://1.2.3.08/
invalid     http://[::1/
invalid     http://[::1%25eth0]/
invalid     http://[fe80::1%eth0]/
invalid     http://[::127.0.0.1.]/
invalid     http://[1:2:3:4:5:6:7:8:9]/
invalid     http://[127.0.0.1]/
invalid     //example.com/
invalid     example.com
invalid     /path

port        http://example.com:0/
port        http://example.com:1/
port        http://example.com:21/
port        http://example.com:22/
port        http://example.com:25/
port        http://example.com:53/
port        http://example.com:110/
port        http://example.com:143/
port        http://example.com:465/
port        http://example.com:587/
port        http://example.com:993/
port        http://example.com:2375/
port        http://example.com:3306/
port        http://example.com:5432/
port        http://example.com:6000/
port        http://example.com:6379/
port        http://example.com:6667/
port        http://example.com:9200/
port        http://example.com:11211/
port        http://example.com:27017/
port        https://example.com:22/
port        http://8.8.8.8:25/
port        http://[2606:4700:4700::1111]:6379/

local       http://localhost/
local       http://localhost:8080/
local       http://LOCALHOST/
local       http://LocalHost./
local       http://localhost%2e/
local       http://ｌｏｃａｌｈｏｓｔ/
local       http://ⓛocalhost/
local       http://loc%61lhost/
local       http://app.localhost/
local       http://a.b.localhost./
local       http://localhost.localdomain/
local       http://printer.local/
local       http://printer.LOCAL./
local       http://vault.internal/
local       http://db.prod.internal:8080/
local       http://internal/
local       http://router.lan/
local       http://router.home.arpa/
local       http://wiki.corp/
local       http://wiki.intranet/
local       http://box.home/
local       http://a.private/
local       http://a.test/
local       http://a.invalid/
local       http://a.onion/
local       http://redis/
local       http://kubernetes/
local       http://host/
local       https://postgres./

metadata    http://metadata.google.internal/
metadata    http://METADATA.google.internal./computeMetadata/v1/
metadata    http://metadata.google.internal:8080/
metadata    http://x.metadata.google.internal/
metadata    http://metadata/
metadata    http://metadata.goog/
metadata    http://instance-data/
metadata    http://instance-data.ec2.internal/
metadata    http://metadata.tencentyun.com/
metadata    http://metadata.azure.internal/

special     http://127.0.0.1/
special     http://127.0.0.1:80/
special     http://127.0.0.1./
special     https://127.0.0.1/
special     http://127.1/
special     http://127.0.1/
special     http://127.255.255.254/
special     http://2130706433/
ok          http://02130706433/
special     http://017700000001/
special     http://0177.0.0.1/
special     http://0177.0.0.01/
special     http://00000177.1/
special     http://0x7f000001/
special     http://0X7F000001/
special     http://0x7f.0.0.1/
special     http://0x7f.0x0.0x0.0x1/
special     http://0x7f.1/
special     http://0x7F.0.1/
special     http://0x0000007f.00.0.01/
special     http://127.0x1/
special     http://127.0.0.0x1/
special     http://127.0.0.0x/
special     http://127。0。0。1/
special     http://１２７.0.0.1/
special     http://１２７．０．０．１/
special     http://①②⑦.⓪.⓪.①/
special     http://%31%32%37.0.0.1/
special     http://127%2e0%2e0%2e1/
special     http://127.0.0.%31/
special     http:\\127.0.0.1\
special     http:127.0.0.1
special     http:///127.0.0.1/
special     http://0x7f.0.0.1:8080/
special     http://0.0.0.1/
special     http://1/
special     http://10.0.0.1/
special     http://10.1/
special     http://167772161/
special     http://0xa.0.0.1/
special     http://012.0.0.1/
special     http://100.64.0.1/
special     http://172.16.0.1/
special     http://172.31.255.255/
special     http://2886729729/
special     http://192.168.0.1/
special     http://192.168.1/
special     http://3232235521/
special     http://0300.0250.0.1/
special     http://0xc0a80001/
special     http://0xc0.168.1/
special     http://192.0.2.1/
special     http://198.18.0.1/
special     http://198.51.100.7/
special     http://203.0.113.7/
special     http://224.0.0.1/
special     http://240.0.0.1/
special     http://255.255.255.255/
special     http://4294967295/
special     http://127.0.0.1:6379/
special     http://[::1]/
special     http://[::1]:8080/
special     http://[0:0:0:0:0:0:0:1]/
special     http://[0000:0000:0000:0000:0000:0000:0000:0001]/
special     http://[::0001]/
special     http://[::127.0.0.1]/
special     http://[::7f00:1]/
special     http://[::ffff:127.0.0.1]/
special     http://[::FFFF:7F00:1]/
special     http://[0:0:0:0:0:ffff:7f00:0001]/
special     http://[::ffff:10.0.0.1]/
special     http://[::ffff:192.168.0.1]/
special     http://[::ffff:0:127.0.0.1]/
special     http://[64:ff9b::7f00:1]/
special     http://[64:ff9b::10.0.0.1]/
special     http://[64:ff9b:1::8.8.8.8]/
special     http://[2002:7f00:1::]/
special     http://[2002:c0a8:1::1]/
special     http://[2001:0:808:808::1]/
special     http://[2001:db8::1]/
special     http://[3fff::1]/
special     http://[fc00::1]/
special     http://[fd12:3456:789a::1]/
special     http://[fec0::1]/
special     http://[ff02::1]/
special     http://[100::1]/
special     http://[5f00::1]/
special     http://[4000::1]/

never       http://0/
never       http://0.0.0.0/
never       http://0.0.0.0:8080/
never       http://0x0/
never       http://00.00/
never       http://[::]/
never       http://[::]:8080/
never       http://[::ffff:0.0.0.0]/
never       http://169.254.169.254/
never       http://169.254.169.254/latest/meta-data/
never       http://169.254.169.254:80/
never       http://169.254.43518/
never       http://169.16689662/
never       http://2852039166/
never       http://0xa9fea9fe/
never       http://0xa9.0xfe.0xa9.0xfe/
never       http://0251.0376.0251.0376/
never       http://025177524776/
never       http://0251.254.0xa9fe/
never       http://１６９.254.169.254/
never       http://169。254。169。254/
never       http://169.254.169.254./
never       http://169.254.170.2/
never       http://169.254.1.1/
never       http://[::ffff:169.254.169.254]/
never       http://[::ffff:a9fe:a9fe]/
never       http://[::169.254.169.254]/
never       http://[64:ff9b::a9fe:a9fe]/
never       http://[2002:a9fe:a9fe::]/
never       http://[fd00:ec2::254]/
never       http://[FD00:0EC2:0:0:0:0:0:254]/
never       http://[fe80::1]/
never       http://[fe80::a9fe:a9fe]/
never       http://[fd20:ce::254]/
never       http://100.100.100.200/
never       http://168.63.129.16/
never       http://192.0.0.192/
";

/// The same with all of IPv4, loopback and unique local IPv6 allowed.
const OPEN: &str = r"
ok          http://127.0.0.1/
ok          http://127.1:6379/
ok          http://10.0.0.1:22/
ok          http://2130706433:8080/
ok          http://[::1]/
ok          http://[::ffff:127.0.0.1]:5432/
ok          http://[fd12:3456:789a::1]/
ok          http://localhost:3000/
ok          http://printer.local/
ok          http://redis:6379/
ok          http://example.com:25/
ok          http://8.8.8.8:25/
special     http://[2001:db8::1]/
special     http://[64:ff9b::127.0.0.1]/
port        http://[2606:4700:4700::1111]:25/
scheme      ftp://127.0.0.1/
credentials http://ann@127.0.0.1/
metadata    http://metadata.google.internal/
metadata    http://metadata/
never       http://0.0.0.0/
never       http://[::]/
never       http://169.254.169.254/
never       http://2852039166/
never       http://[::ffff:169.254.169.254]/
never       http://[fd00:ec2::254]/
never       http://[fe80::1]/
never       http://100.100.100.200/
never       http://168.63.129.16/
never       http://192.0.0.192/
";

fn verdict(egress: &Egress, text: &str) -> &'static str {
    let Ok(url) = text.parse::<Url>() else { return "invalid" };
    let Err(refused) = egress.check(&url) else { return "ok" };
    let message = "the address is not a public web address, or it is that of the server itself";
    assert_eq!(refused.to_string(), message);
    match refused.reason() {
        Reason::Scheme => "scheme",
        Reason::Credentials => "credentials",
        Reason::NoHost => "no-host",
        Reason::Port(_) => "port",
        Reason::LocalName => "local",
        Reason::MetadataName => "metadata",
        Reason::Special(..) => "special",
        Reason::Never(..) => "never",
        Reason::NotAllowed(_) => "not-allowed",
        Reason::NothingAllowed => "nothing-allowed",
        Reason::Own(..) => "own",
    }
}

/// Checks every row and gives their number.
fn check(egress: &Egress, table: &str) -> usize {
    let rows: Vec<_> = table.lines().filter(|line| !line.is_empty()).collect();
    let wrong = rows.iter().filter_map(|row| {
        let (expected, url) = row.split_once(' ').unwrap();
        let got = verdict(egress, url.trim_start());
        (got != expected).then(|| format!("{row} is {got}"))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
    rows.len()
}

#[test]
fn every_spelling_gets_the_verdict_of_what_it_means() {
    let egress = Egress::new(allowing(&[]), always(&[])).unwrap();
    assert!(check(&egress, CLOSED) >= 150);
}

#[test]
fn what_is_allowed_opens_neither_metadata_nor_other_schemes() {
    let allow = allowing(&["0.0.0.0/0", "::1/128", "fc00::/7"]);
    let egress = Egress::new(allow, always(&[])).unwrap();
    check(&egress, OPEN);
}

#[tokio::test]
async fn within_what_is_allowed_the_public_web_is_closed() {
    let check = async |allow: &[&str], url: &str| {
        let egress = Egress::new(allowing(allow), always(&["1.1.1.1"])).unwrap();
        egress.check_within_allowed(&url.parse().unwrap()).await.is_ok()
    };
    for url in ["http://1.1.1.1/", "http://example.com/", "https://example.com/"] {
        assert!(!check(&[], url).await, "{url}");
        assert!(!check(&["10.0.0.0/8"], url).await, "{url}");
        assert!(check(&["1.1.1.0/24"], url).await, "{url}");
    }
    assert!(check(&["10.0.0.0/8"], "http://10.0.0.1/").await);
    assert!(!check(&["0.0.0.0/0"], "http://169.254.169.254/").await);
}

#[test]
fn control_characters_and_spaces_around_an_address_change_nothing() {
    let egress = Egress::new(allowing(&[]), always(&[])).unwrap();
    for text in [
        " http://127.0.0.1/ ",
        "ht\ntp://127.0.\t0.1/",
        "\u{1}http://127.0.0.1/",
        "http://127.0.0.1\t:80/",
    ] {
        assert_eq!(verdict(&egress, text), "special", "{text:?}");
    }
    assert_eq!(verdict(&egress, "http://127.0.0.1\u{ad}/"), "special");
    assert_eq!(verdict(&egress, "http://local\u{200b}host/"), "local");
}
