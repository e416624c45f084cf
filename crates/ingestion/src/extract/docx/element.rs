//! A part's XML as a tree that borrows from its text.

use std::borrow::Cow;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion, escape};

use crate::extract::Unreadable;

/// The maximum nesting depth of elements: real documents stay below 100, including nested tables.
const DEPTH: usize = 256;
/// Elements of one part: a novel has some 100,000.
const ELEMENTS: usize = 2_000_000;
/// Formatting and history, from which no text is read.
const WITHOUT_TEXT: [&str; 12] = [
    "tblPr",
    "tblGrid",
    "spPr",
    "blipFill",
    "bodyPr",
    "rPrChange",
    "pPrChange",
    "tblPrChange",
    "trPrChange",
    "tcPrChange",
    "sectPrChange",
    "sdtEndPr",
];

/// An element. Names are compared without their prefix: the strict and the transitional namespaces, and all prefixes,
/// are treated in the same way.
#[derive(Debug)]
pub(in crate::extract) struct Element<'a> {
    start: BytesStart<'a>,
    nodes: Vec<Node<'a>>,
}

#[derive(Debug)]
enum Node<'a> {
    Element(Element<'a>),
    Text(Cow<'a, str>),
}

impl Default for Element<'_> {
    fn default() -> Self {
        Self::new(BytesStart::new(""))
    }
}

impl<'a> Element<'a> {
    /// The tree of a part; an element without a name that holds its root.
    ///
    /// Fails with [`Unreadable`] if it is not well-formed, declares a document type, or exceeds the limits.
    pub(in crate::extract) fn parse(text: &'a str) -> Result<Self, Unreadable> {
        let mut reader = Reader::from_str(text);
        let mut tree = Tree { open: Vec::new(), current: Self::default(), elements: 0 };
        loop {
            match reader.read_event().map_err(|error| damaged(&error))? {
                Event::Start(start) if WITHOUT_TEXT.contains(&start.local_name().as_ref()) => {
                    reader.read_to_end(start.name()).map_err(|error| damaged(&error))?;
                }
                Event::Start(start) => tree.open(start)?,
                Event::Empty(start) => {
                    tree.open(start)?;
                    tree.close();
                }
                Event::End(_) => tree.close(),
                Event::Text(part) => tree.text(part.xml10_content()),
                Event::CData(part) => tree.text(part.xml10_content()),
                Event::GeneralRef(reference) => tree.text(resolved(&reference)),
                Event::DocType(_) => {
                    return Err(Unreadable::new(
                        "the document declares XML entities, which DOCX does not allow; save it again as DOCX",
                    ));
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof => return tree.finish(),
            }
        }
    }

    /// The name without the prefix.
    pub(in crate::extract) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// An attribute by its name without the prefix.
    pub(in crate::extract) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut attributes = self.start.attributes();
        let mut found = attributes.with_checks(false).flatten();
        let found = found.find(|attribute| attribute.key.local_name().as_ref() == name)?;
        found.normalized_value(XmlVersion::Implicit1_0).ok()
    }

    /// The relationship that it refers to: its `id` with a prefix; an `id` without a prefix is ignored.
    #[cfg(feature = "office")]
    pub(in crate::extract) fn reference(&self) -> Option<Cow<'_, str>> {
        let mut attributes = self.start.attributes();
        let mut found = attributes.with_checks(false).flatten();
        let found = found.find(|attribute| {
            attribute.key.local_name().as_ref() == "id" && attribute.key.prefix().is_some()
        })?;
        found.normalized_value(XmlVersion::Implicit1_0).ok()
    }

    /// Its content, in order: elements, and text between them.
    #[cfg(feature = "office")]
    pub(in crate::extract) fn content(&self) -> impl Iterator<Item = Result<&Self, &str>> {
        self.nodes.iter().map(|node| match node {
            Node::Element(element) => Ok(element),
            Node::Text(text) => Err(text.as_ref()),
        })
    }

    /// Its child elements.
    pub(in crate::extract) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first element of that name in it.
    pub(in crate::extract) fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|element| element.name() == name)
    }

    /// All elements of that name below it, in order, without those inside another one.
    pub(in crate::extract) fn find_all<'e>(&'e self, name: &str, found: &mut Vec<&'e Self>) {
        for element in self.elements() {
            if element.name() == name {
                found.push(element);
            } else {
                element.find_all(name, found);
            }
        }
    }

    /// The `val` of the first element of that name in it.
    pub(in crate::extract) fn value(&self, child: &str) -> Option<Cow<'_, str>> {
        self.child(child)?.attribute("val")
    }

    /// The `val` of the first element of that name in it, as a number.
    pub(in crate::extract) fn number(&self, child: &str) -> Option<i64> {
        self.value(child)?.trim().parse().ok()
    }

    /// Whether the property with that name is present and not switched off.
    pub(in crate::extract) fn is_on(&self, child: &str) -> bool {
        let Some(property) = self.child(child) else { return false };
        !matches!(property.attribute("val").as_deref(), Some("0" | "false" | "off"))
    }

    /// The text directly in it.
    pub(in crate::extract) fn text(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.as_ref()),
            Node::Element(_) => None,
        })
    }

    fn new(start: BytesStart<'a>) -> Self {
        Self { start, nodes: Vec::new() }
    }
}

/// The tree while it is read.
struct Tree<'a> {
    /// The ancestors of the current element.
    open: Vec<Element<'a>>,
    current: Element<'a>,
    elements: usize,
}

impl<'a> Tree<'a> {
    fn open(&mut self, start: BytesStart<'a>) -> Result<(), Unreadable> {
        self.elements += 1;
        if self.open.len() >= DEPTH {
            return Err(Unreadable::new("the document is nested too deeply"));
        }
        if self.elements > ELEMENTS {
            return Err(Unreadable::new(
                "the document is too large; split it and upload its parts",
            ));
        }
        self.open.push(std::mem::replace(&mut self.current, Element::new(start)));
        Ok(())
    }

    fn close(&mut self) {
        let Some(parent) = self.open.pop() else { return };
        let mut closed = std::mem::replace(&mut self.current, parent);
        closed.nodes.shrink_to_fit();
        self.current.nodes.push(Node::Element(closed));
    }

    /// Blanks between elements are layout of the XML; within these they are text.
    fn text(&mut self, text: Cow<'a, str>) {
        let holds_text = matches!(self.current.name(), "t" | "span" | "p" | "h" | "a");
        if holds_text || !text.trim().is_empty() {
            self.current.nodes.push(Node::Text(text));
        }
    }

    fn finish(self) -> Result<Element<'a>, Unreadable> {
        match self.open.is_empty() {
            true => Ok(self.current),
            false => Err(damaged(&"it ends early")),
        }
    }
}

/// The text of a reference; empty for one that XML does not define.
fn resolved<'a>(reference: &BytesRef<'_>) -> Cow<'a, str> {
    match reference.resolve_char_ref() {
        Ok(Some(char)) => Cow::Owned(char.to_string()),
        Ok(None) => Cow::Borrowed(
            escape::resolve_predefined_entity(&reference.xml10_content()).unwrap_or_default(),
        ),
        Err(_) => Cow::Borrowed("\u{fffd}"),
    }
}

fn damaged(error: &dyn std::fmt::Display) -> Unreadable {
    Unreadable::new(format!("the document is damaged: {error}"))
}
