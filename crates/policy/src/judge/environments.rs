//! Programs that a project installs for itself, in a virtual environment or `node_modules`.
//!
//! They are files of the workspace, so they count as the program that they are named after only
//! where what runs is confined.

use super::call::Judge;
use super::files::Walk;
use crate::shell::{Command, Look, PathOperand, Reach, Word, normal_name};
use crate::world::normal;

/// Programs of a virtual environment.
const PYTHON: &[&str] = &[
    "alembic",
    "bandit",
    "black",
    "celery",
    "coverage",
    "django-admin",
    "flake8",
    "flask",
    "gunicorn",
    "hatch",
    "ipython",
    "isort",
    "mypy",
    "nox",
    "pip",
    "pip3",
    "poetry",
    "pre-commit",
    "pylint",
    "pyright",
    "pytest",
    "python",
    "python3",
    "ruff",
    "sphinx-build",
    "tox",
    "uv",
    "uvicorn",
];

/// Programs of `node_modules/.bin`.
const NODE: &[&str] = &[
    "astro",
    "ava",
    "biome",
    "c8",
    "cypress",
    "esbuild",
    "eslint",
    "jest",
    "mocha",
    "next",
    "nx",
    "nyc",
    "playwright",
    "prettier",
    "rimraf",
    "rollup",
    "stylelint",
    "svelte-check",
    "swc",
    "tap",
    "ts-node",
    "tsc",
    "tsx",
    "turbo",
    "vite",
    "vitest",
    "vue-tsc",
    "webpack",
];

impl Judge<'_> {
    /// Returns the command under the bare name of its program, if the project installed it.
    pub(super) fn installed(&self, command: &Command, walk: &Walk) -> Option<Command> {
        let name = command.name().filter(|name| name.contains('/'))?;
        let path = normal(&walk.folder.join(name));
        let folder = path.parent().filter(|_| path.starts_with(self.world.workspace()))?;
        let base = normal_name(name);
        let is_installed = if folder.ends_with("node_modules/.bin") {
            NODE.contains(&base)
        } else {
            folder.ends_with("bin")
                && PYTHON.contains(&base)
                && folder
                    .parent()
                    .is_some_and(|above| self.world.is_there(&above.join("pyvenv.cfg")))
        };
        let mut installed = command.clone();
        *installed.words.first_mut().filter(|_| is_installed)? = Word::plain(base);
        Some(installed)
    }

    /// Returns the script that a command reads to enter a virtual environment of the workspace.
    pub(super) fn activation(&self, command: &Command, walk: &Walk) -> Option<Look> {
        let ("source" | ".", [script]) = (command.name()?, command.arguments()) else {
            return None;
        };
        let path = normal(&walk.folder.join(script.literal()?));
        let folder = path.parent().filter(|_| path.starts_with(self.world.workspace()))?;
        let is_environment =
            folder.parent().is_some_and(|above| self.world.is_there(&above.join("pyvenv.cfg")));
        let is_script = path.ends_with("bin/activate") && command.assignments.is_empty();
        let paths = vec![PathOperand { word: script.clone(), reach: Reach::Itself }];
        (is_script && is_environment).then_some(Look::Reads { paths, git: None })
    }
}
