//! The rules and settings in force, which may be exchanged while calls go on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use toolgate_core::swap::{HotSwap, Part};
use toolgate_core::workspace::Version;
use toolgate_policy::propose::Proposed;
use toolgate_policy::veil::Veil;
use toolgate_policy::world::World;
use toolgate_policy::{Engine, Facts, Policy, Verdict};
use toolgate_tools::web::{WebAccess, WebClient};

use crate::config;
use crate::exit;
use crate::policies::{self, Sources};
use crate::secrets::Secrets;

/// Files are looked at for changes no more often than this.
const PAUSE: Duration = Duration::from_millis(100);
/// Whoever changes them is given this long to finish, and once more while they go on.
const SETTLING: Duration = Duration::from_millis(60);
const MOST_WAITS: usize = 5;

/// The rules and settings in force. Files that change are read anew before the next decision; with
/// a mistake in them, what was in force stays so.
#[derive(Debug)]
pub(crate) struct Live {
    engine: ArcSwap<Engine>,
    sources: Sources,
    secrets: Arc<Secrets>,
    web: Arc<WebAccess>,
    looked: Mutex<Looked>,
}

/// What the files looked like.
#[derive(Debug)]
struct Looked {
    at: Instant,
    stamps: Stamps,
}

type Stamps = Vec<(PathBuf, Option<Version>)>;

impl Live {
    /// These rules, read from those sources.
    pub(crate) fn new(
        engine: Engine,
        sources: Sources,
        secrets: Arc<Secrets>,
        web: Arc<WebAccess>,
    ) -> Self {
        let looked = Mutex::new(Looked { at: Instant::now(), stamps: stamps(&sources) });
        Self { engine: ArcSwap::from_pointee(engine), sources, secrets, web, looked }
    }

    /// The rules in force now.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        self.engine.load_full()
    }

    /// Where the rules come from.
    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Reads what changed on disk, at most every now and then.
    fn refresh(&self) {
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.at.elapsed() < PAUSE {
                return;
            }
            looked.at = Instant::now();
            let mut now = stamps(&self.sources);
            if now == looked.stamps {
                return;
            }
            // An editor that is just saving may have emptied a file first.
            for _ in 0..MOST_WAITS {
                std::thread::sleep(SETTLING);
                let later = stamps(&self.sources);
                let settled = later == now;
                now = later;
                if settled {
                    break;
                }
            }
            looked.stamps = now;
        }
        match self.swap(Part::All) {
            Ok(_) if self.sources.global.quiet => {}
            Ok(_) => exit::note("settings changed and were read anew"),
            Err(why) => exit::report(&format!(
                "settings changed, but cannot be used; what was in force before stays in force\n{why}"
            )),
        }
    }

    fn swap_policies(&self) -> anyhow::Result<String> {
        let engine = policies::reload(&self.sources)?;
        let own = engine.table().rules().len();
        let mode = engine.mode();
        self.engine.store(Arc::new(engine));
        Ok(format!("The policies were read anew: {own} rules are in force, in mode `{mode}`."))
    }

    fn swap_config(&self) -> anyhow::Result<String> {
        let config = config::load()?;
        let web = config.web.settings()?;
        self.secrets.replace(&config)?;
        self.web.replace(WebClient::new(web));
        Ok("The config was read anew.".to_owned())
    }
}

impl HotSwap for Live {
    fn swap(&self, part: Part) -> Result<String, String> {
        let swapped = match part {
            Part::Policies => self.swap_policies(),
            Part::Config => self.swap_config(),
            Part::Skills => Ok("There are no skills here, so nothing was read anew.".to_owned()),
            Part::Servers => Ok(
                "Servers are read when Toolgate starts; end it and start it again to use others."
                    .to_owned(),
            ),
            Part::All => self.swap_config().and_then(|config| {
                let policies = self.swap_policies()?;
                Ok(format!("{config}\n{policies}"))
            }),
        };
        swapped.map_err(|error| format!("{error:#}"))
    }
}

impl Policy for Live {
    fn decide(&self, facts: &Facts, world: &dyn World) -> Verdict {
        self.refresh();
        self.engine.load().decide(facts, world)
    }

    fn proposals(&self, facts: &Facts, world: &dyn World) -> Vec<Proposed> {
        self.engine.load().proposals(facts, world)
    }

    fn veil(&self) -> Veil {
        self.engine.load().veil()
    }
}

/// What the files look like from outside.
fn stamps(sources: &Sources) -> Stamps {
    let places = sources.places().unwrap_or_default();
    let stamped = places.into_iter().map(|place| {
        let version = place.metadata().ok().map(|found| Version::from(&found));
        (place, version)
    });
    stamped.collect()
}
