//! The scope of addresses: both sides of every range's borders.

use cicerone_egress::{Scope, is_public, scope_of};

const PUBLIC: &str = "
    1.0.0.0 1.1.1.1 8.8.8.8 93.184.216.34
    9.255.255.255 11.0.0.0
    100.63.255.255 100.128.0.0
    126.255.255.255 128.0.0.0
    169.253.255.255 169.255.0.0
    172.15.255.255 172.32.0.0
    191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0
    192.88.98.255 192.88.100.0
    192.167.255.255 192.169.0.0
    198.17.255.255 198.20.0.0
    198.51.99.255 198.51.101.0
    203.0.112.255 203.0.114.0
    223.255.255.255
    168.63.129.15 168.63.129.17
    192.31.196.1 192.52.193.1 192.175.48.1
    2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
    2003:: 2606:4700:4700::1111 2620:4f:8000::1 2a00:1450:4001::200e
    3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
";

const SPECIAL: &str = "
    0.0.0.1 0.255.255.255
    10.0.0.0 10.255.255.255
    100.64.0.0 100.127.255.255
    127.0.0.0 127.0.0.1 127.255.255.255
    172.16.0.0 172.31.255.255
    192.0.0.0 192.0.0.9 192.0.0.255
    192.0.2.0 192.0.2.255
    192.88.99.0 192.88.99.255
    192.168.0.0 192.168.255.255
    198.18.0.0 198.19.255.255
    198.51.100.0 198.51.100.255
    203.0.113.0 203.0.113.255
    224.0.0.0 239.255.255.255
    240.0.0.0 255.255.255.254 255.255.255.255
    ::1 ::2 ::8.8.8.8 ::127.0.0.1 ::ffff:0:8.8.8.8
    ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:192.168.0.1
    64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::192.168.0.1 64:ff9b:0:1::8.8.8.8
    64:ff9b:1::1 64:ff9b:1::8.8.8.8 64:ff9b:1:ffff:ffff:ffff:808:808 64:ff9b:2::8.8.8.8
    100:: 100::ffff:ffff:ffff:ffff 100:0:0:1::1 100:0:0:2::
    1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000::
    2001:0:808:808::f7f7:f7f7 2001:1::1 2001:2:: 2001:2:0:ffff::
    2001:10:: 2001:1f:ffff:: 2001:20:: 2001:2f:ffff:: 2001:30::
    2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
    2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
    2002:7f00:1:: 2002:a00:1:: 2002:c0a8:1::
    3ffe:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
    5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    fc00:: fcff:: fd00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    fe00:: fe7f:: fec0:: feff:: ff00:: ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
";

const NEVER: &str = "
    0.0.0.0 :: ::ffff:0.0.0.0 64:ff9b:: 64:ff9b:1:: 2001:: 2002::
    169.254.0.0 169.254.169.254 169.254.170.2 169.254.170.23 169.254.42.42 169.254.255.255
    100.100.100.200 168.63.129.16 192.0.0.192
    ::ffff:169.254.169.254 ::169.254.169.254 ::ffff:0:169.254.169.254
    64:ff9b::169.254.169.254 64:ff9b:1::169.254.169.254 2002:a9fe:a9fe::1
    2001:0:a9fe:a9fe:: 2001::5601:5601 2a00::5efe:a9fe:a9fe 2a00::200:5efe:a9fe:a9fe
    ::ffff:168.63.129.16 64:ff9b::100.100.100.200 2002:c000:c0::
    fe80:: fe80::a9fe:a9fe febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    fd00:ec2:: fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42
";

fn each(list: &str, check: impl Fn(Scope) -> bool) {
    for text in list.split_whitespace() {
        let scope = scope_of(text.parse().unwrap());
        assert!(check(scope), "{text} is {scope:?}");
        assert_eq!(is_public(text.parse().unwrap()), scope == Scope::Public, "{text}");
    }
}

#[test]
fn addresses_beside_every_special_range_are_public() {
    each(PUBLIC, |scope| scope == Scope::Public);
}

#[test]
fn the_first_and_last_address_of_every_special_range_are_special() {
    each(SPECIAL, |scope| matches!(scope, Scope::Special(_)));
}

#[test]
fn metadata_services_are_never_asked_in_whatever_an_address_is_wrapped() {
    each(NEVER, |scope| matches!(scope, Scope::Never(_)));
}

#[test]
fn every_ipv4_address_is_judged_alike_as_such_and_mapped() {
    for high in 0..=255_u8 {
        for low in [0, 1, 16, 64, 100, 168, 254, 255] {
            let v4 = std::net::Ipv4Addr::new(high, low, 99, 192);
            assert_eq!(scope_of(v4.into()), scope_of(v4.to_ipv6_mapped().into()), "{v4}");
        }
    }
}
