//! `graph`: draws a workflow as text.

use crate::Styles;
use crate::answer::Answer;
use crate::args::{self, Drawing};
use crate::cmd::one;
use crate::graph::{Graph, dot, mermaid, svg};

pub(super) fn run(args: &args::Graph, styles: Styles) -> Result<Answer, Answer> {
    let (_, checked) = one::load(&args.file, styles)?;
    let graph = Graph::new(checked.definition())?;
    let text = match args.format {
        Drawing::Mermaid => mermaid(&graph),
        Drawing::Dot => dot(&graph),
        Drawing::Svg => svg(&graph)?,
    };
    Ok(one::deliver(text, args.output.as_deref())?)
}
