//! Uploaded files.

mod unread;

use crate::access::Scope;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits;
use crate::text::{is_blank, is_direction_control};
use crate::timestamp::Timestamp;

pub use unread::unread_type;

/// A file that was uploaded, before or while a source uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// `file_` and 10 characters; also its name in the object store.
    pub id: Id<kind::Upload>,
    /// The account that owns it.
    pub account_id: Id<kind::Account>,
    /// Its name on the caller's machine.
    pub filename: Filename,
    /// Its type, detected by content.
    pub content_type: UploadType,
    /// The size in bytes.
    pub bytes: u64,
    /// When it was uploaded.
    pub created_at: Timestamp,
}

/// The name of a file: 1 to 255 characters, none of which controls anything or changes the direction of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filename(String);

impl Filename {
    /// The last component of the name that a caller gave, without the characters that a name cannot
    /// contain; `file` if nothing is left.
    pub fn clean(name: &str) -> Self {
        Self::clean_path(name.rsplit(['/', '\\']).next().unwrap_or_default())
    }

    /// The same including the folders, for files of the machine that the program runs on.
    pub fn clean_path(path: &str) -> Self {
        let is_kept = |c: &char| !c.is_control() && !is_direction_control(*c);
        let kept: String = path.chars().filter(is_kept).take(limits::FILENAME_CHARS).collect();
        Self(if is_blank(&kept) { "file".to_owned() } else { kept })
    }

    /// A stored name, which was cleaned when it was written.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The name without folders, control characters or direction controls; never blank.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The types of files that a source can be made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadType {
    /// Portable Document Format.
    Pdf,
    /// Office Open XML document.
    Docx,
    /// A saved or exported web page.
    Html,
    /// Plain text, Markdown included.
    Text,
    /// A table: records of fields.
    Csv,
    /// Office Open XML workbook.
    Xlsx,
    /// OpenDocument workbook.
    Ods,
    /// Workbook of Excel before 2007.
    Xls,
    /// Office Open XML presentation.
    Pptx,
    /// OpenDocument text.
    Odt,
    /// An electronic book.
    Epub,
    /// Rich Text Format.
    Rtf,
    /// A message (RFC 5322), with what is attached to it.
    Eml,
    /// Portable Network Graphics. This and the following types are pictures, which are read by OCR only.
    Png,
    /// Joint Photographic Experts Group.
    Jpeg,
    /// Tagged Image File Format, with one or several pages.
    Tiff,
    /// WebP.
    Webp,
}

impl UploadType {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Pdf,
        Self::Docx,
        Self::Html,
        Self::Text,
        Self::Csv,
        Self::Xlsx,
        Self::Ods,
        Self::Xls,
        Self::Pptx,
        Self::Odt,
        Self::Epub,
        Self::Rtf,
        Self::Eml,
        Self::Png,
        Self::Jpeg,
        Self::Tiff,
        Self::Webp,
    ];

    /// The names of the types that every server reads, for people. Pictures are read by some.
    pub const NAMES: &str =
        "PDF, DOCX, ODT, RTF, PPTX, XLSX, XLS, ODS, CSV, EPUB, EML, HTML or text";

    /// The media type: `application/pdf`.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Html => "text/html",
            Self::Text => "text/plain",
            Self::Csv => "text/csv",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Xls => "application/vnd.ms-excel",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Epub => "application/epub+zip",
            Self::Rtf => "application/rtf",
            Self::Eml => "message/rfc822",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Tiff => "image/tiff",
            Self::Webp => "image/webp",
        }
    }

    /// The type of a picture, by its first bytes; `None` if it is not a picture or its type is not supported.
    pub fn of_picture(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => Some(Self::Tiff),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }

    /// The type of files with that media type, without its parameters; `None` if such files are not accepted.
    pub fn from_media_type(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == name)
    }
}

/// The name of the object with the bytes of an upload: `uploads/` and the upload's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// The name of the object of upload `id`.
    pub fn of(id: Id<kind::Upload>) -> Self {
        Self(format!("uploads/{id}"))
    }

    /// Reads a name; `None` if it is not one of an upload's object.
    pub fn parse(name: &str) -> Option<Self> {
        let id = name.strip_prefix("uploads/")?.parse().ok()?;
        Some(Self::of(id))
    }

    /// The id of the upload.
    pub fn upload_id(&self) -> &str {
        self.0.strip_prefix("uploads/").unwrap_or(&self.0)
    }

    /// The name in the object store, `uploads/` and the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a file exists for a caller that sees `scope`; `users` are the agents whose sources use it. A file that only
/// other agents use does not exist for a caller that is restricted to agents.
pub fn is_visible(users: &[Id<kind::Agent>], scope: &Scope) -> bool {
    users.is_empty() || users.iter().any(|agent| scope.sees(*agent))
}

/// The error for deleting a file that a source uses.
pub fn in_use() -> Error {
    Error::Conflict("a source uses the file".to_owned())
}

impl Upload {
    /// The name of the object with its bytes.
    pub fn object_key(&self) -> ObjectKey {
        ObjectKey::of(self.id)
    }

    /// Checks that the object has as many bytes as were uploaded.
    ///
    /// # Errors
    ///
    /// [`DamagedObject`], for example after a disk was full or a bucket was restored in part.
    pub fn check_object(&self, found: &[u8]) -> Result<(), DamagedObject> {
        let found = u64::try_from(found.len()).unwrap_or(u64::MAX);
        if found == self.bytes { Ok(()) } else { Err(DamagedObject { bytes: self.bytes, found }) }
    }
}

/// An object that does not have the length of what was uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the uploaded file is damaged in the object store: it had {bytes} bytes and has {found}")]
pub struct DamagedObject {
    bytes: u64,
    found: u64,
}

#[cfg(test)]
mod tests {
    use super::{Filename, ObjectKey, UploadType, is_visible};
    use crate::{Id, Scope, SystemEntropy};

    #[test]
    fn only_names_of_uploads_are_object_keys() {
        let key = ObjectKey::of(Id::random(&SystemEntropy));
        assert_eq!(ObjectKey::parse(key.as_str()), Some(key));
        for name in
            ["", "uploads/", "uploads/../secret", "uploads/agent_0123456789", "file_0123456789"]
        {
            assert_eq!(ObjectKey::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_file_that_other_agents_alone_use_does_not_exist_for_a_restricted_caller() {
        let [own, other] = [Id::random(&SystemEntropy), Id::random(&SystemEntropy)];
        let whole = Scope::account(Id::random(&SystemEntropy));
        let restricted = Scope { agents: Some([own].into()), ..whole.clone() };
        for (users, seen) in
            [(vec![], true), (vec![own], true), (vec![other], false), (vec![other, own], true)]
        {
            assert!(is_visible(&users, &whole));
            assert_eq!(is_visible(&users, &restricted), seen, "{users:?}");
        }
    }

    #[test]
    fn pictures_are_told_by_their_beginning() {
        let types = [
            UploadType::Png,
            UploadType::Jpeg,
            UploadType::Tiff,
            UploadType::Tiff,
            UploadType::Webp,
        ];
        let beginnings: [&[u8]; 5] = [
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff\xe0",
            b"II*\0",
            b"MM\0*",
            b"RIFF\x10\0\0\0WEBPVP8 ",
        ];
        for (kind, bytes) in types.into_iter().zip(beginnings) {
            assert_eq!(UploadType::of_picture(bytes), Some(kind));
            assert_eq!(UploadType::of_picture(bytes.get(..2).unwrap()), None);
        }
        for other in [&b"GIF89a"[..], b"RIFF\x10\0\0\0WAVE", b"words", b""] {
            assert_eq!(UploadType::of_picture(other), None);
        }
    }

    #[test]
    fn a_filename_keeps_its_last_part_only() {
        let clean = |name: &str| Filename::clean(name).as_str().to_owned();
        assert_eq!(clean("C:\\docs\\manual.pdf"), "manual.pdf");
        assert_eq!(clean("../../etc/passwd"), "passwd");
        assert_eq!(clean("a\0b\n.txt"), "ab.txt");
        assert_eq!(clean("dir/"), "file");
        assert_eq!(clean(&"é".repeat(300)).chars().count(), 255);
        assert_eq!(Filename::clean_path("docs/a\nb.txt").as_str(), "docs/ab.txt");
        assert_eq!(clean("\u{202e}gnp.exe"), "gnp.exe");
        assert_eq!(clean("\u{200b}"), "file");
    }
}
