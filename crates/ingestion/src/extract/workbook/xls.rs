//! Checks the size of an old Excel workbook (XLS) before it is read: the library allocates all positions between the
//! first and the last cell of a sheet.
//!
//! The workbook is a stream of a compound file ([MS-CFB] 2.2 to 2.6) that consists of records ([MS-XLS] 2.1.4).

use super::{PLACES, damaged, scattered};
use crate::extract::Unreadable;

/// The most rows and columns that the format has.
const ROWS: u32 = 65_536;
const COLUMNS: u32 = 256;
/// Numbers of sectors from here on end a chain.
const SPECIAL: u32 = 0xffff_fffa;
/// A stream of fewer bytes is in small sectors.
const SMALL: usize = 4_096;
const ENTRY: usize = 128;
/// Records that begin with a row and a column: formulas, labels, numbers, and several numbers.
const CELLS: [u16; 8] = [0x0006, 0x00bd, 0x00d6, 0x00fd, 0x0203, 0x0204, 0x0205, 0x027e];
const DIMENSIONS: u16 = 0x0200;
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;

/// Refuses a workbook whose cells are too far apart. The library reports damage.
pub(super) fn check(bytes: &[u8]) -> Result<(), Unreadable> {
    let Some(file) = File::open(bytes) else { return Ok(()) };
    if file.has_endless_chain() {
        return Err(damaged(&"a chain of its sectors has no end"));
    }
    file.workbook().map_or(Ok(()), |stream| check_records(&stream))
}

/// A compound file.
struct File<'b> {
    bytes: &'b [u8],
    sector: usize,
    chains: Vec<u32>,
}

impl<'b> File<'b> {
    fn open(bytes: &'b [u8]) -> Option<Self> {
        let shift = u32::from(number16(bytes, 30)?);
        let sector = 1_usize.checked_shl(shift).filter(|size| (512..=4_096).contains(size))?;
        let mut file = Self { bytes, sector, chains: Vec::new() };
        // The tables of chains: 109 in the header, and others in a separate chain.
        let mut tables: Vec<u32> = (0..109).filter_map(|at| number32(bytes, 76 + 4 * at)).collect();
        let mut next = number32(bytes, 68)?;
        while next < SPECIAL && tables.len() < file.sectors() {
            let numbers = numbers(file.at(next)?);
            let (last, more) = numbers.split_last()?;
            tables.extend_from_slice(more);
            next = *last;
        }
        let most = file.sectors();
        for table in tables.into_iter().filter(|table| *table < SPECIAL).take(most) {
            let numbers = numbers(file.at(table)?);
            file.chains.extend_from_slice(&numbers);
        }
        Some(file)
    }

    /// How many sectors it can have.
    const fn sectors(&self) -> usize {
        self.bytes.len() / self.sector + 1
    }

    fn at(&self, sector: u32) -> Option<&'b [u8]> {
        let begin = usize::try_from(sector).ok()?.checked_add(1)?.checked_mul(self.sector)?;
        let end = begin.checked_add(self.sector)?.min(self.bytes.len());
        self.bytes.get(begin..end)
    }

    /// The sectors of a chain.
    fn chain(&self, first: u32) -> Vec<u8> {
        let (mut content, mut next) = (Vec::new(), first);
        for _ in 0..self.sectors() {
            let Some(sector) = self.at(next).filter(|_| next < SPECIAL) else { break };
            content.extend_from_slice(sector);
            let place = usize::try_from(next).unwrap_or(usize::MAX);
            next = self.chains.get(place).copied().unwrap_or(SPECIAL);
        }
        content
    }

    /// Whether a chain leads back to one of its own sectors: the library would follow it until memory is exhausted.
    fn has_endless_chain(&self) -> bool {
        let header = |at: usize| number32(self.bytes, at).unwrap_or(SPECIAL);
        let mut large = Ends::new(&self.chains);
        if large.is_endless(header(48)) || large.is_endless(header(60)) {
            return true;
        }
        let small_chains = numbers(&self.chain(header(60)));
        let mut small = Ends::new(&small_chains);
        let folder = self.chain(header(48));
        folder.chunks_exact(ENTRY).enumerate().any(|(index, entry)| {
            let first = number32(entry, 116).unwrap_or(SPECIAL);
            let size = number32(entry, 120).map_or(usize::MAX, |size| size as usize);
            // The first entry has the stream of small sectors.
            if index > 0 && size < SMALL {
                small.is_endless(first)
            } else {
                large.is_endless(first)
            }
        })
    }

    /// The stream of the workbook.
    fn workbook(&self) -> Option<Vec<u8>> {
        let folder = self.chain(number32(self.bytes, 48)?);
        let entry = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let length = u16::try_from(name.len() + 2).ok();
            folder
                .chunks_exact(ENTRY)
                .find(|entry| entry.starts_with(&name) && number16(entry, 64) == length)
        };
        let entry = entry("Workbook").or_else(|| entry("Book"))?;
        let (first, size) = (number32(entry, 116)?, usize::try_from(number32(entry, 120)?).ok()?);
        if size < SMALL {
            // So few bytes contain few cells, but one may be at the end of a sheet.
            return self.small(&folder, first);
        }
        let mut stream = self.chain(first);
        stream.truncate(size);
        Some(stream)
    }

    /// A stream in sectors of 64 bytes, which are in the stream of the first entry.
    fn small(&self, folder: &[u8], first: u32) -> Option<Vec<u8>> {
        let whole = self.chain(number32(folder, 116)?);
        let chains = numbers(&self.chain(number32(self.bytes, 60)?));
        let (mut content, mut next) = (Vec::new(), usize::try_from(first).ok()?);
        for _ in 0..SMALL / 64 {
            let Some(sector) = whole.get(next * 64..(next + 1) * 64) else { break };
            content.extend_from_slice(sector);
            next = usize::try_from(*chains.get(next)?).ok()?;
        }
        Some(content)
    }
}

/// Determines whether chains end. Each sector is visited once, even if several chains lead to it.
struct Ends<'c> {
    chains: &'c [u32],
    /// For each sector, the number of the walk that visited it; 0 if none did.
    walks: Vec<u32>,
    walk: u32,
}

impl<'c> Ends<'c> {
    fn new(chains: &'c [u32]) -> Self {
        Self { chains, walks: vec![0; chains.len()], walk: 0 }
    }

    /// Whether the chain from `first` never ends.
    fn is_endless(&mut self, first: u32) -> bool {
        self.walk += 1;
        let mut next = first;
        loop {
            let place = usize::try_from(next).unwrap_or(usize::MAX);
            let (Some(after), Some(walk)) = (self.chains.get(place), self.walks.get_mut(place))
            else {
                return false;
            };
            match *walk {
                0 => *walk = self.walk,
                seen => return seen == self.walk,
            }
            next = *after;
        }
    }
}

/// Checks the position of every cell.
fn check_records(stream: &[u8]) -> Result<(), Unreadable> {
    let mut area = Area::default();
    let (mut places, mut at, mut depth) = (0_u64, 0_usize, 0_usize);
    while let (Some(kind), Some(length)) = (number16(stream, at), number16(stream, at + 2)) {
        let data = stream.get(at + 4..).unwrap_or_default();
        // Nested parts of a sheet, such as charts, begin and end like a sheet.
        if kind == BEGIN {
            depth += 1;
        } else if kind == END {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                places += std::mem::take(&mut area).places();
            }
        } else if kind == DIMENSIONS {
            check_dimensions(data.get(..usize::from(length)).unwrap_or_default())?;
        } else if CELLS.contains(&kind)
            && let (Some(row), Some(column)) = (number16(data, 0), number16(data, 2))
        {
            area.add(row, column);
        }
        at += 4 + usize::from(length);
        if places + area.places() > PLACES as u64 {
            return Err(scattered());
        }
    }
    Ok(())
}

/// The library allocates as many cells as a sheet claims to have.
fn check_dimensions(data: &[u8]) -> Result<(), Unreadable> {
    let is_long = data.len() >= 14;
    let (rows, columns) = if is_long {
        (number32(data, 4), number16(data, 10))
    } else {
        (number16(data, 2).map(u32::from), number16(data, 6))
    };
    let is_lie =
        rows.is_some_and(|rows| rows > ROWS) || columns.is_some_and(|c| u32::from(c) > COLUMNS);
    if is_lie { Err(scattered()) } else { Ok(()) }
}

/// The range between cells.
#[derive(Default)]
struct Area {
    seen: Option<((u16, u16), (u16, u16))>,
}

impl Area {
    fn add(&mut self, row: u16, column: u16) {
        let ((top, left), (bottom, right)) = self.seen.unwrap_or(((row, column), (row, column)));
        self.seen = Some(((top.min(row), left.min(column)), (bottom.max(row), right.max(column))));
    }

    fn places(&self) -> u64 {
        self.seen.map_or(0, |((top, left), (bottom, right))| {
            (u64::from(bottom - top) + 1) * (u64::from(right - left) + 1)
        })
    }
}

fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Ends, File, check, check_records, number32};

    const FEES: &[u8] = include_bytes!("../../../tests/readers/data/fees.xls");

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
    }

    fn cell(row: u16, column: u16) -> Vec<u8> {
        record(0x0203, &[&row.to_le_bytes()[..], &column.to_le_bytes(), &[0; 10]].concat())
    }

    #[test]
    fn a_workbook_is_found_in_its_file() {
        let stream = File::open(FEES).unwrap().workbook().unwrap();
        assert!(stream.starts_with(&[0x09, 0x08]), "{:?}", stream.get(..16));
        assert!(check(FEES).is_ok());
        for end in (0..FEES.len()).step_by(97) {
            assert!(check(&FEES[..end]).is_ok());
        }
    }

    #[test]
    fn a_chain_without_end_is_damaged() {
        let mut bytes = FEES.to_vec();
        // The first sector of the directory is followed by itself.
        let table = (number32(&bytes, 76).unwrap() as usize + 1) * 512;
        let first = number32(&bytes, 48).unwrap();
        let place = table + 4 * first as usize;
        bytes[place..place + 4].copy_from_slice(&first.to_le_bytes());
        let refusal = check(&bytes).unwrap_err().to_string();
        assert!(refusal.contains("damaged") && refusal.contains("no end"), "{refusal}");
        let mut ends = Ends::new(&[1, 2, 0xffff_fffe, 4, 3, 1]);
        let endless: Vec<bool> = (0..7).map(|first| ends.is_endless(first)).collect();
        assert_eq!(endless, [false, false, false, true, false, false, false]);
    }

    #[test]
    fn sheets_whose_cells_lie_far_apart_are_refused() {
        assert!(check_records(&[cell(0, 0), cell(60_000, 20)].concat()).is_ok());
        assert!(check_records(&[cell(0, 0), cell(65_535, 255)].concat()).is_err());
        let one =
            [record(0x0809, &[0; 16]), cell(0, 0), cell(60_000, 20), record(0x000a, &[])].concat();
        assert!(check_records(&one.repeat(3)).is_ok());
        assert!(check_records(&one.repeat(4)).is_err());
        let sheet = |rows: u32, columns: u16| {
            let data = [&[0; 4][..], &rows.to_le_bytes(), &[0; 2], &columns.to_le_bytes(), &[0; 2]];
            record(0x0200, &data.concat())
        };
        assert!(check_records(&sheet(65_536, 256)).is_ok());
        assert!(check_records(&sheet(65_537, 256)).is_err());
        assert!(check_records(&sheet(1, 257)).is_err());
    }
}
