//! A prompt that stands in a file beside the workflow, of a state machine or of a step.

use super::decoder::{Decoder, shortened};
use crate::catalogue::{B18, B41, S10};
use crate::diag::Diagnostic;
use crate::included::MAX_INCLUDED_BYTES;
use crate::prompt_files::{MAX_PROMPT_BYTES, PromptFileFault, PromptFiles};
use crate::span::Spanned;
use crate::syntax::Text;

/// Help for an empty prompt.
pub(super) const WRITE: &str = "write what the agent is to do";

/// The text of the file with this name, or a finding that says why there is none.
pub(super) fn read(decoder: &mut Decoder<'_>, files: &PromptFiles, name: &Spanned<String>) -> Option<Text> {
    let text = match files.read(&name.value) {
        Ok(text) => text,
        Err(fault) => {
            decoder.report(missing(name, fault));
            return None;
        }
    };
    let text = decoder.include(name, text);
    if text.is_none() {
        let message = format!("all prompt files together are larger than {} MiB", MAX_INCLUDED_BYTES >> 20);
        decoder.report(Diagnostic::new(&S10, name.span, message).help("no workflow has prompts that long"));
    }
    text
}

fn missing(name: &Spanned<String>, fault: PromptFileFault) -> Diagnostic {
    let shown = shortened(&name.value);
    let check = if matches!(fault, PromptFileFault::Outside) { &B41 } else { &B18 };
    let (message, help) = match fault {
        PromptFileFault::Outside => (
            format!("the prompt file `{shown}` is not in the workflow's folder"),
            "name a file in the folder of the workflow, without `..`".to_owned(),
        ),
        PromptFileFault::Missing(close) => (
            format!("there is no prompt file `{shown}`"),
            close.map_or("write it, beside the workflow".to_owned(), |it| format!("did you mean `{it}`?")),
        ),
        PromptFileFault::NoFile => {
            (format!("the prompt file `{shown}` is not a file"), "name a file with the prompt".to_owned())
        }
        PromptFileFault::TooLong => (
            format!("the prompt file `{shown}` is longer than {} KiB", MAX_PROMPT_BYTES >> 10),
            "shorten it: agents read all of it".to_owned(),
        ),
        PromptFileFault::NoText(byte) => (
            format!("the prompt file `{shown}` is not a UTF-8 text: byte {byte} begins no character"),
            "save the file as UTF-8".to_owned(),
        ),
        PromptFileFault::Nul(line) => (
            format!("the prompt file `{shown}` has the character U+0000 in line {line}, which is not a text"),
            "delete it".to_owned(),
        ),
        PromptFileFault::Empty => (format!("the prompt file `{shown}` is empty"), WRITE.to_owned()),
        PromptFileFault::Io(error) => {
            (format!("the prompt file `{shown}` cannot be read: {error}"), "check who may read it".to_owned())
        }
    };
    Diagnostic::new(check, name.span, message).help(help)
}
