//! A state that a match forgets is the compiler's to find.

orange_macros::workflow!("fixtures/seed-minimal.yml");

use minimal::State;

fn open(state: State) -> bool {
    match state {
        State::Pending | State::Working | State::Reviewing => true,
        State::Done => false,
    }
}

fn main() {
    open(State::Pending);
}
