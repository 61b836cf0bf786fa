//! `emit`: prints the Rust that the macro and the build script generate.

use orange_codegen::emit::{self, CorePath, Header, Options};

use crate::answer::Answer;
use crate::args::{self, Core};
use crate::cmd::one;
use crate::screen::Styles;

pub(super) fn run(args: &args::Emit, styles: Styles) -> Result<Answer, Answer> {
    let (file, checked) = one::load(&args.file, styles)?;
    let core = match args.core {
        Core::Core => CorePath::Core,
        Core::Engine => CorePath::Engine,
    };
    let options = Options { core, ..Options::default() };
    let command = command(args, &file.source.path);
    let header = Header { source: &file.source.path, command: &command };
    match emit::pretty(&checked, &options, header) {
        Ok(text) => Ok(one::deliver(text, args.output.as_deref())?),
        Err(findings) => Err(one::refuse(file, findings, styles)),
    }
}

/// The command that writes the same file again.
fn command(args: &args::Emit, path: &str) -> String {
    let core = match args.core {
        Core::Core => "",
        Core::Engine => " --core orange_engine::core",
    };
    format!("orange-workflow emit {path}{core}")
}
