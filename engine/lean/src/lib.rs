//! What the shipped binary goes without: unwinding, the frames of a backtrace, names of threads.
//!
//! Where a panic ends the process, nothing unwinds. The standard library is built for both and links what finds and names
//! frames all the same: 180 KiB. These functions stand in for those of the unwinder. They are compiled together with the
//! standard library, and with nothing to name there is nothing to name it with. A panic says what happened and where.
#![cfg(all(panic = "abort", target_env = "musl"))]
#![expect(
    unsafe_code,
    reason = "each has the name, arguments and result of the function that it stands in for"
)]

use std::ffi::{c_char, c_int, c_void};

/// Visits no frame, and says that all were visited.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Backtrace(_visit: *const c_void, _argument: *mut c_void) -> c_int {
    0
}

/// Names no thread: ours have no names, and the C library's function for it is the only one that brings `printf`.
#[unsafe(no_mangle)]
extern "C" fn pthread_setname_np(_thread: *mut c_void, _name: *const c_char) -> c_int {
    0
}

/// What only unwinding calls.
macro_rules! never_called {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> ! {
            std::process::abort()
        }
    )*};
}

never_called! {
    _Unwind_GetDataRelBase
    _Unwind_GetIP
    _Unwind_GetIPInfo
    _Unwind_GetLanguageSpecificData
    _Unwind_GetRegionStart
    _Unwind_GetTextRelBase
    _Unwind_Resume
    _Unwind_SetGR
    _Unwind_SetIP
}
