use super::Subject;

#[test]
fn a_definition_is_told_from_a_mention() {
    let subject = Subject::of("What is the Orbit tent?").unwrap();
    assert!(subject.is_defined_by("The **Orbit tent** is our largest."));
    assert!(!subject.is_defined_by("The Orbit tent weighs nine kilograms."));
    assert!(!subject.is_defined_by("Our largest tent is the Orbit tent."));
    let long = format!("The **Orbit tent** is {}.", "large and ".repeat(50));
    assert!(subject.is_defined_by(&long));
    assert!(!subject.is_defined_by(&long.replace(" is ", &format!(" {} is ", "ä".repeat(90)))));
    assert!(Subject::of("Was ist Cicerone?").unwrap().is_defined_by("Cicerone ist ein Dienst."));
}

#[test]
fn what_an_option_does_is_in_its_definition() {
    for question in ["What does --locked do?", "what is --locked", "Meaning of --locked"] {
        let subject = Subject::of(question).unwrap();
        assert!(subject.is_defined_by("`--locked`: Asserts that nothing changes."), "{question}");
        assert!(subject.is_defined_by("- `-l`, `--locked`: Asserts it."), "{question}");
        assert!(!subject.is_defined_by("`--frozen`: The same as `--locked`."), "{question}");
    }
    let subject = Subject::of("What does -- do?").unwrap();
    assert!(!subject.is_defined_by("`--[no-]locked`: Asserts that nothing changes."));
    let subject = Subject::of("What does CASCADE do in TRUNCATE?").unwrap();
    assert!(subject.is_defined_by("`CASCADE`: Truncates all tables with references."));
}

#[test]
fn an_option_is_the_subject_whatever_command_it_is_of_and_when_it_is_used() {
    for question in [
        "What does harbour fetch --locked do?",
        "what does --locked do when I fetch",
        "what does --locked mean with harbour fetch?",
        "What is --locked for?",
    ] {
        let subject = Subject::of(question).unwrap();
        assert!(subject.is_named("--locked"), "{question}: {subject:?}");
    }
    let subject = Subject::of("What is harbour gc for?").unwrap();
    assert!(subject.is_named("harbour-gc") && !subject.is_named("harbour-gc-all"));
}

#[test]
fn an_option_that_can_be_negated_has_two_names() {
    for name in ["--anchor", "--no-anchor"] {
        let subject = Subject::of(&format!("What does {name} do?")).unwrap();
        assert!(subject.is_defined_by("--[no-]anchor: Drops the anchor."), "{name}");
        assert!(subject.is_defined_by("`-a`, `--[no-]anchor[=<depth>]`: Drops it."), "{name}");
        assert!(!subject.is_defined_by("--[no-]anchored: Whether it was."), "{name}");
    }
}

#[test]
fn other_questions_ask_for_no_definition() {
    for question in [
        "When does it open?",
        "What is ?",
        "",
        "How is the weather?",
        "What is the largest ship that may enter the harbour?",
        "What is it?",
    ] {
        assert_eq!(Subject::of(question), None, "{question}");
    }
}

#[test]
fn a_heading_about_just_the_subject_is_known() {
    for (question, heading) in [
        ("What does KeepAlive do?", "### KeepAlive Directive"),
        ("What is a handler?", "What is a Handler?"),
        ("What is a handler?", "## 3.1. Handlers"),
        ("What are handlers?", "## Handler"),
        ("What is pg_stat_activity?", "## 28.2.5. pg_stat_activity"),
        ("What does _mod_rewrite_ do?", "# mod_rewrite"),
        ("What is a reverse-proxy?", "## Reverse proxy"),
        ("What’s a handler?", "Handler overview"),
        ("What is C++?", "## C++"),
        ("What is a reverse proxy?", "Reverse Proxy Guide"),
        ("What does the trust authentication method mean?", "21.4. Trust Authentication"),
        ("What does QSA do in a rewrite rule?", "QSA|qsappend"),
        ("what is fs.read", "`fs.read(path)`"),
        ("What does $timeout do?", "## 3.4 timeout"),
        ("What does timeout do?", "## $timeout"),
        ("What does the variable mail_check control?", "mail_check"),
        ("What is X.509?", "Certificates (X.509)"),
    ] {
        assert!(Subject::of(question).unwrap().is_heading(heading), "{question} {heading}");
    }
    for (question, heading) in [
        ("What does KeepAlive do?", "KeepAliveTimeout Directive"),
        ("What is a handler?", "Writing handlers"),
        ("What is a module?", "Module rules"),
        ("What is a module?", "## "),
        ("What is a callback?", "`fs.write(fd, buffer, callback)`"),
        ("What is a function room?", "## Rooms"),
        ("What are the class fees?", "## Fees"),
        ("What is a file system?", "## System overview"),
        ("What is HTTP?", "## HTTPS"),
        ("What is C++?", "## C"),
        ("What is a redirect?", "## 301 Redirect"),
    ] {
        assert!(!Subject::of(question).unwrap().is_heading(heading), "{question} {heading}");
    }
}

#[test]
fn names_in_parentheses_and_first_cells_are_terms() {
    let subject = Subject::of("What is a CSR?").unwrap();
    assert!(subject.is_defined_by("Certificate Signing Request (CSR): An unsigned certificate."));
    assert!(!subject.is_defined_by("Certificate: What is made of a CSR."));
    assert!(subject.is_defined_by("| CSR | An unsigned certificate |"));
    assert!(!subject.is_defined_by("| Certificate | made of a CSR |"));
    let subject = Subject::of("What does the %T field mean?").unwrap();
    assert!(subject.is_defined_by("| %T | The tide |"));
    assert!(!subject.is_defined_by("| %t | The time |"));
    let subject = Subject::of("What does -v do?").unwrap();
    assert!(subject.is_defined_by("`-v`, `--verbose`: Says more."));
    assert!(!subject.is_defined_by("`-V`, `--version`: Prints the version."));
    let subject = Subject::of("What does --tag do?").unwrap();
    assert!(!subject.is_defined_by("`--tags`: Fetches all of them."));
    let subject = Subject::of("What is a file?").unwrap();
    assert!(!subject.is_defined_by("`rm file`: Removes it."));
    let subject = Subject::of("What does max_moored do?").unwrap();
    assert!(subject.is_defined_by("`max_moored` (`integer`): Sets how many ships may moor."));
    let subject = Subject::of("What is a request?").unwrap();
    assert!(!subject.is_defined_by("Certificate Signing Request (CSR): An unsigned certificate."));
}
