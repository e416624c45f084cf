//! The credentials of visitors: signed identities (JSON Web Tokens) and anonymous ones.
//!
//! The input is three lines: a credential as a visitor sends it, and the header and the claims of a token that the site has
//! signed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| visitors::check(input));

// The modules themselves: they are private to a crate that takes long to build, and need nothing of it.
#[path = "../../crates/http/src/visitors"]
mod visitors {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use cicerone_domain::widget::Identity;
    use cicerone_domain::{Entropy, Id, Timestamp};
    use hmac::{Hmac, KeyInit as _, Mac as _};
    use serde_json::Value;
    use sha2::Sha256;

    use self::credential::{Credentials, PREFIX};
    use self::jwt::BadToken;

    mod credential;
    mod jwt;

    /// The site's secrets.
    const SECRET: &[u8] = b"wids_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    const OTHER: &[u8] = b"wids_8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fE";
    /// Bytes of an anonymous credential before its signature.
    const NAMED_BYTES: usize = 15;
    const NOW: i64 = 1_790_000_000;
    const LEEWAY: f64 = 60.0;
    const DAY: f64 = 24.0 * 60.0 * 60.0;

    /// Bytes of the input instead of random ones.
    struct Given<'a>(&'a [u8]);

    impl Entropy for Given<'_> {
        fn fill(&self, target: &mut [u8]) {
            let bytes = self.0.iter().copied().chain(std::iter::repeat(7));
            target.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
        }
    }

    pub fn check(input: &[u8]) {
        let text = String::from_utf8_lossy(input);
        let mut lines = text.splitn(3, '\n');
        let mut next = || lines.next().unwrap_or_default();
        let (sent, header, claims) = (next(), next(), next());
        if verify(sent).is_ok() {
            check_is_signed(sent);
        }
        check_token(header, claims);
        check_credential(sent);
    }

    fn verify(token: &str) -> Result<Identity, BadToken> {
        jwt::verify(token, [OTHER, SECRET], Timestamp::from_millis(NOW * 1_000))
    }

    fn signed(secret: &[u8], header: &str, claims: &str) -> String {
        let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length");
        let tag = mac.chain_update(&parts).finalize().into_bytes();
        format!("{parts}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    /// Checks that a token is exactly what the site would have written.
    fn check_is_signed(token: &str) {
        let parts: Vec<&str> = token.split('.').collect();
        let text = |part: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url");
            String::from_utf8(bytes).expect("JSON is UTF-8")
        };
        let (header, claims) = (text(parts[0]), text(parts[1]));
        let is_signed =
            [OTHER, SECRET].iter().any(|secret| signed(secret, &header, &claims) == token);
        assert!(is_signed, "a token that the site has not signed is accepted: {token}");
    }

    /// Checks a token with the right signature against a second reading of its texts.
    fn check_token(header: &str, claims: &str) {
        let token = signed(SECRET, header, claims);
        match verify(&token) {
            Ok(identity) => {
                check_identity(&identity, header, claims);
                let foreign = signed(b"wids_", header, claims);
                assert_eq!(verify(&foreign), Err(BadToken::Signature));
                for changed in [format!("{token}A"), format!("{token}="), format!(".{token}")] {
                    assert!(verify(&changed).is_err(), "{changed}");
                }
                let (unsigned, _) = token.rsplit_once('.').expect("three parts");
                assert_eq!(verify(&format!("{unsigned}.")), Err(BadToken::Signature));
            }
            Err(refusal) => assert_ne!(refusal, BadToken::Signature, "{header} {claims}"),
        }
    }

    fn check_identity(identity: &Identity, header: &str, claims: &str) {
        // What is not asked for may be deeper, or a larger number, than this reading takes.
        let [Ok(header), Ok(claims)] = [header, claims].map(serde_json::from_str::<Value>) else {
            return;
        };
        assert_eq!(header["alg"], "HS256");
        assert!(header.get("crit").is_none());
        assert!(header["typ"].as_str().is_none_or(|kind| kind.eq_ignore_ascii_case("JWT")));
        assert_eq!(claims["sub"].as_str(), Some(identity.subject()));
        assert_eq!(claims["name"].as_str(), identity.name());
        assert_eq!(claims["email"].as_str(), identity.email());
        let now = NOW as f64;
        let exp = claims["exp"].as_f64().expect("`exp`");
        assert!(exp > now - LEEWAY && exp <= now + DAY + LEEWAY, "{exp}");
        for time in ["nbf", "iat"].iter().filter_map(|name| claims[name].as_f64()) {
            assert!(time <= now + LEEWAY, "{time}");
        }
        let chars = |text: Option<&str>| text.unwrap_or_default().chars().count();
        assert!((1..=200).contains(&identity.subject().chars().count()));
        assert!(chars(identity.name()) <= 100 && chars(identity.email()) <= 254);
    }

    /// Checks that a credential is that of its visitor and agent only, and that no other spelling of it is accepted. The fuzzer sees
    /// what is compared here, so it can learn a whole credential.
    fn check_credential(sent: &str) {
        let entropy = Given(sent.as_bytes());
        let credentials = Credentials::new(&[7; 32]);
        let [agent, other] = [&[1][..], &[2]].map(|bytes| Id::random(&Given(bytes)));
        let (visitor, issued) = credentials.issue(agent, &entropy);
        assert_eq!(credentials.read(agent, &issued), Some(visitor));
        assert_eq!(credentials.read(other, &issued), None);
        assert_eq!(Credentials::new(&[8; 32]).read(agent, &issued), None);
        if let Some(visitor) = credentials.read(agent, sent) {
            let (named, tag) = sent.split_at(NAMED_BYTES);
            assert_eq!((named, tag.len()), (format!("{PREFIX}{}_", visitor.suffix()).as_str(), 22));
            assert_eq!(credentials.read(other, sent), None);
        }
        // The input as the signature of a visitor.
        let forged = format!("{}{sent}", issued.split_at(NAMED_BYTES).0);
        if credentials.read(agent, &forged).is_some() {
            assert_eq!(forged, issued);
        }
        assert!(issued.starts_with(PREFIX));
        assert_eq!(credentials.identified(agent, sent), credentials.identified(agent, sent));
        assert_ne!(credentials.identified(agent, sent), credentials.identified(other, sent));
    }
}
