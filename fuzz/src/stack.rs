//! The thread that readers run on, as in the child process, and the reporting of panics.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

/// Four times the stack of the child process: frames are larger with a sanitizer.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// The message of the last panic.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// A thread with a large stack, and the check that it runs.
pub struct LargeStack {
    inputs: SyncSender<Vec<u8>>,
    ends: Mutex<Receiver<Result<(), String>>>,
}

impl LargeStack {
    /// Starts the thread.
    pub fn new(check: fn(&[u8])) -> Self {
        let (inputs, received) = sync_channel::<Vec<u8>>(0);
        let (ended, ends) = sync_channel(0);
        let run = move || {
            for input in received {
                let outcome = catch_unwind(AssertUnwindSafe(|| check(&input)));
                let outcome = outcome.map_err(|_| LAST_PANIC.lock().unwrap().clone());
                ended.send(outcome).expect("the fuzzer waits");
            }
        };
        Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
        Self { inputs, ends: Mutex::new(ends) }
    }

    /// Checks an input; panics if the check does.
    pub fn check(&self, input: &[u8]) {
        self.inputs.send(input.to_vec()).expect("the thread runs");
        let outcome = self.ends.lock().unwrap().recv().expect("the thread answers");
        if let Err(panic) = outcome {
            eprintln!("{panic}");
            resume_unwind(Box::new(panic));
        }
    }
}

/// Allows panics to be caught, as the readers do for their underlying libraries: libFuzzer's own
/// hook ends the process at once. A panic that is not caught is still a finding.
pub fn let_panics_be_caught() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        *LAST_PANIC.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = panic.to_string();
    }));
}
