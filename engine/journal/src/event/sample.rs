//! Values for the fields of events in tests.

use std::collections::BTreeMap;

use orange_core::budget::Budget;
use orange_core::plan::Value;

/// A type that can make values for tests. Numbers and strings differ from those before; `count` is the last one.
pub(crate) trait SampleValue {
    fn sample(count: &mut u32) -> Self;
}

macro_rules! counted {
    ($($number:ty)*) => {$(
        impl SampleValue for $number {
            fn sample(count: &mut u32) -> $number {
                *count += 1;
                *count as $number
            }
        }
    )*};
}

counted!(i32 u32 u64 usize);

impl SampleValue for String {
    fn sample(count: &mut u32) -> String {
        u32::sample(count).to_string()
    }
}

impl SampleValue for bool {
    fn sample(_: &mut u32) -> bool {
        true
    }
}

impl SampleValue for Budget {
    fn sample(count: &mut u32) -> Budget {
        Budget { cost: Some(u64::sample(count)), time: Some(u64::sample(count)), ..Budget::default() }
    }
}

impl SampleValue for Value {
    fn sample(count: &mut u32) -> Value {
        Value::Number(i64::from(u32::sample(count)))
    }
}

impl<T: SampleValue> SampleValue for BTreeMap<String, T> {
    fn sample(count: &mut u32) -> BTreeMap<String, T> {
        BTreeMap::from([(String::sample(count), T::sample(count))])
    }
}

impl<T: SampleValue> SampleValue for Option<T> {
    fn sample(count: &mut u32) -> Option<T> {
        Some(T::sample(count))
    }
}

impl<T: SampleValue> SampleValue for Vec<T> {
    fn sample(count: &mut u32) -> Vec<T> {
        vec![T::sample(count), T::sample(count)]
    }
}
