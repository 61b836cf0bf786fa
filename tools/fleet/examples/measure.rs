//! Measures a host: `measure FOLDER [CREATED] [RUN] [BACKLOG]`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use orange_fleet::host::sqlite::SqliteHost;
use orange_fleet::host::{Host, NewColony};
use orange_fleet::simulate::measure::{FIVE, MeasuredCalls, create, run};

static PLAN: &orange_core::plan::Plan<'static> = &FIVE;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("name a folder")?;
    let mut number = |default: u32| args.next().map_or(Ok(default), |it| it.parse());
    let (created, finished, backlog) = (number(2000)?, number(1000)?, number(0)?);
    let host = open(&folder)?;
    let new =
        |name: &str| NewColony { name: name.to_owned(), repository: "/srv/x.git".to_owned(), base: None };
    let colony = host.create_colony(new("measured")).await?.id;
    if backlog > 0 {
        show("backlog made", &create(&host, &colony, PLAN, backlog, 256).await?)?;
    }
    show("create, 32 clients", &create(&host, &colony, PLAN, created, 32).await?)?;
    show("create, 1 client", &create(&host, &colony, PLAN, created / 10, 1).await?)?;
    show("run, 16 crabs", &run(&host, &colony, 16, finished).await?)?;
    let begin = std::time::Instant::now();
    let counts = host.counts().await?;
    writeln!(std::io::stdout(), "counts {:?} in {:?}", counts, begin.elapsed())?;
    Ok(())
}

fn open(name: &str) -> Result<Arc<dyn Host>, Box<dyn std::error::Error>> {
    Ok(Arc::new(SqliteHost::open(&Path::new(name).join("fleet.db"))?))
}

fn show(what: &str, it: &MeasuredCalls) -> std::io::Result<()> {
    let ms = |part| it.percentile(part).as_secs_f64() * 1e3;
    writeln!(
        std::io::stdout(),
        "{what}: {} in {:.2} s = {:.0}/s; cpu {:.2} ms each; p50 {:.1} ms p99 {:.1} ms",
        it.count,
        it.time.as_secs_f64(),
        it.rate(),
        it.cpu.as_secs_f64() * 1e3 / f64::from(it.count.max(1)),
        ms(0.5),
        ms(0.99)
    )
}
