//! A word or an output that the code does not know is the compiler's to find.

orange_macros::workflow!("fixtures/reports.toml");

use reports::{PanelVerdict, SplitOutputs};

fn is_good(verdict: PanelVerdict) -> bool {
    match verdict {
        PanelVerdict::Good => true,
    }
}

fn size(outputs: &SplitOutputs) -> usize {
    outputs.part.len()
}

fn main() {
    is_good(PanelVerdict::Good);
    let _ = size;
}
