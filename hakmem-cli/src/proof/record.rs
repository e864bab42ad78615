//! The lines that the probe and hakmem write.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One line of the probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    pub event: String,
    pub pid: i32,
    pub ppid: i32,
    pub exe: String,
    /// Function to the file that defines the one called.
    pub bindings: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub peak_rss_kib: Option<u64>,
    /// Bytes in libc's own heap at the end; `None` if libc could not be asked.
    #[serde(default)]
    pub heap: Option<u64>,
    /// The same after the probe used every function; `None` if that would have been unsafe.
    #[serde(default)]
    pub probed: Option<u64>,
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

impl ProbeRecord {
    pub fn at_exit(&self) -> bool {
        self.event == "exit"
    }

    pub fn bound(&self, function: &str) -> Option<&str> {
        self.bindings.get(function)?.as_deref()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Served {
    pub blocks: u64,
    pub bytes: u64,
    #[serde(default)]
    pub exact: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassCount {
    pub size: u64,
    pub blocks: u64,
    pub bytes: u64,
}

/// hakmem's own proof record (HAKMEM_PROOF).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HakmemRecord {
    pub hakmem_proof: u32,
    pub pid: i32,
    pub ppid: i32,
    pub exe: String,
    pub version: String,
    pub library: String,
    pub bindings: BTreeMap<String, Option<String>>,
    pub served: Served,
    pub classes: Vec<ClassCount>,
    pub cold: BTreeMap<String, u64>,
    pub libc_heap_bytes: Option<u64>,
    pub peak_rss_kib: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

/// Every complete line that parses. A process killed in the middle of a write leaves a stump.
pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_both_records_and_skips_stumps() {
        let probe = r#"{"hakprobe":1,"event":"exit","pid":7,"ppid":1,"exe":"/bin/x",
            "bindings":{"malloc":"/l.so","_Znwm":null},"heap":0,"versions":{"hakprobe":"1"}}"#;
        let text = format!("{}\n{{\"hakprobe\":1,\"ev", probe.replace('\n', ""));
        let records: Vec<ProbeRecord> = parse_lines(&text);
        assert_eq!(records.len(), 1);
        assert!(records[0].at_exit());
        assert_eq!(records[0].bound("malloc"), Some("/l.so"));
        assert_eq!(records[0].bound("_Znwm"), None);
        assert_eq!((records[0].heap, records[0].probed), (Some(0), None));

        let own = r#"{"hakmem_proof":1,"pid":9,"library":"/l.so","served":{"blocks":4,"bytes":64,
            "exact":false},"classes":[{"size":16,"blocks":4,"bytes":64}],"libc_heap_bytes":null}"#;
        let records: Vec<HakmemRecord> = parse_lines(&own.replace('\n', ""));
        assert_eq!(records[0].served.blocks, 4);
        assert_eq!(records[0].classes[0].size, 16);
        assert_eq!(records[0].libc_heap_bytes, None);
    }
}
