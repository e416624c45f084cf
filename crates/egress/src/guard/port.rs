//! Ports that belong to services other than the web.

/// Whether `port` is one of the Fetch standard's bad ports (https://fetch.spec.whatwg.org, "port blocking"), or of a
/// data store that interprets HTTP as commands or responds without authentication.
pub(super) fn is_bad(port: u16) -> bool {
    BAD.binary_search(&port).is_ok()
}

/// In ascending order.
const BAD: [u16; 98] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060,
    5061, 5432, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9200, 9300,
    10080, 10250, 11211, 27017,
];

#[cfg(test)]
mod tests {
    use super::{BAD, is_bad};

    #[test]
    fn the_ports_are_in_order_and_the_web_is_open() {
        assert!(BAD.is_sorted());
        for port in [80, 81, 443, 3000, 4000, 5000, 8000, 8080, 8081, 8443, 8888, 9000] {
            assert!(!is_bad(port), "{port}");
        }
        for port in [22, 25, 6379, 6667, 11211, 27017] {
            assert!(is_bad(port), "{port}");
        }
    }
}
