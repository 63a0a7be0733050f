//! Files that programs look for without being told, and options that name a folder.

/// Files that a program looks for in the folder it works in, and in those above it.
const FILES: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnp.cjs",
            "pnpm-workspace.yaml",
            "bunfig.toml",
        ],
    ),
    (&["npx", "pnpx", "bunx"], &[".npmrc", ".yarnrc.yml", "bunfig.toml"]),
    (&["node", "nodejs", "tsx", "ts-node"], &[".pnp.cjs"]),
    (&["deno"], &["deno.json", "deno.jsonc", "package.json"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    (&["rake", "drake"], &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"]),
    (&["bundle", "rspec", "rails"], &["Gemfile", "Gemfile.lock", ".bundle/config", ".rspec"]),
    (
        &["cargo"],
        &[
            "Cargo.toml",
            "build.rs",
            ".cargo/config.toml",
            ".cargo/config",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
    ),
    (
        &["gradle", "gradlew"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    ),
    (&["mvn", "mvnw"], &["pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config"]),
    (&["sbt"], &["build.sbt"]),
    (&["ant"], &["build.xml"]),
    (
        &["docker", "podman", "nerdctl", "docker-compose", "podman-compose"],
        &[
            "compose.yaml",
            "compose.yml",
            "docker-compose.yml",
            "docker-compose.yaml",
            "compose.override.yaml",
            "compose.override.yml",
            "docker-compose.override.yml",
            "Dockerfile",
            "Containerfile",
            ".env",
        ],
    ),
    (
        &[
            "pytest", "py.test", "tox", "nox", "pip", "pip3", "uv", "uvx", "poetry", "pdm",
            "hatch", "pipenv",
        ],
        &[
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "tox.ini",
            "noxfile.py",
            "pytest.ini",
            "conftest.py",
            "Pipfile",
            "uv.toml",
        ],
    ),
    (&["invoke", "inv", "fab"], &["tasks.py", "fabfile.py"]),
    (&["go"], &["go.mod", "go.work", "main.go"]),
    (
        &["cmake", "ctest", "cpack"],
        &["CMakeLists.txt", "CMakePresets.json", "CTestTestfile.cmake", "CPackConfig.cmake"],
    ),
    (&["ninja", "samu"], &["build.ninja"]),
    (&["meson", "muon"], &["meson.build"]),
    (&["bazel", "bazelisk"], &["MODULE.bazel", "WORKSPACE", "BUILD", "BUILD.bazel", ".bazelrc"]),
    (&["scons"], &["SConstruct"]),
    (&["composer", "phpunit"], &["composer.json", "phpunit.xml", "phpunit.xml.dist"]),
    (&["mix", "iex"], &["mix.exs"]),
    (&["stack", "cabal"], &["stack.yaml", "cabal.project"]),
    (&["terraform", "tofu"], &["main.tf", "terraform.tfvars", ".terraformrc"]),
    (&["ansible-playbook", "ansible"], &["ansible.cfg"]),
    (&["vagrant"], &["Vagrantfile"]),
    (&["fastlane"], &["fastlane/Fastfile"]),
    (&["nix", "nix-shell", "nix-build"], &["flake.nix", "shell.nix", "default.nix"]),
    (&["direnv"], &[".envrc"]),
    (&["mise", "rtx"], &["mise.toml", ".mise.toml", ".tool-versions"]),
    (&["skaffold"], &["skaffold.yaml"]),
    (&["tilt"], &["Tiltfile"]),
    (&["jest"], &["jest.config.js", "jest.config.ts", "package.json"]),
    (&["eslint"], &["eslint.config.js", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json"]),
    (&["webpack"], &["webpack.config.js"]),
    (&["vite", "vitest"], &["vite.config.js", "vite.config.ts", "vitest.config.ts"]),
    (&["gulp"], &["gulpfile.js"]),
    (&["grunt"], &["Gruntfile.js"]),
    (&["gdb"], &[".gdbinit"]),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["lerna", "nx", "turbo"], &["lerna.json", "nx.json", "turbo.json", "package.json"]),
];

/// Files that an interpreter runs when it is given a folder.
const ENTRIES: [&str; 5] = ["package.json", "index.js", "index.mjs", "index.ts", "__main__.py"];

/// Returns the files that a program looks for.
pub(super) fn files(name: &str, arguments: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = FILES
        .iter()
        .filter(|(names, _)| names.contains(&name))
        .flat_map(|(_, files)| files.iter().map(|file| (*file).to_owned()))
        .collect();
    let operands = || arguments.iter().filter(|word| !word.starts_with('-'));
    if matches!(name, "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun") {
        for operand in operands().take(3) {
            let package = operand.rsplit_once('@').filter(|(name, _)| !name.is_empty());
            let package = package.map_or(*operand, |(name, _)| name);
            let base = package.rsplit('/').next().unwrap_or(package);
            found.push(format!("node_modules/.bin/{base}"));
            found.push(format!("node_modules/{package}/package.json"));
        }
    }
    let is_python = name.starts_with("python") || name.starts_with("pypy") || name == "py";
    if is_python {
        let after = |word: &&str| (word.starts_with('-') && !word.starts_with("--")).then_some(());
        for (at, word) in arguments.iter().enumerate() {
            let Some((_, attached)) = word.split_once('m').filter(|_| after(word).is_some()) else {
                continue;
            };
            let module = if attached.is_empty() { arguments.get(at + 1) } else { Some(&attached) };
            let path = module.copied().unwrap_or_default().replace('.', "/");
            found.push(format!("{path}.py"));
            found.push(format!("{path}/__main__.py"));
            found.push(format!("{path}/__init__.py"));
        }
    }
    if is_python || matches!(name, "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node") {
        for operand in operands().take(2) {
            let folder = operand.trim_end_matches('/');
            let below = if folder == "." { String::new() } else { format!("{folder}/") };
            found.extend(ENTRIES.iter().map(|entry| format!("{below}{entry}")));
        }
    }
    found
}

/// Options that name a folder to work in, or a file in it.
const OPTIONS: [&str; 14] = [
    "-C",
    "-D",
    "-d",
    "-w",
    "--directory",
    "--chdir",
    "--prefix",
    "--cwd",
    "--dir",
    "--workdir",
    "--project",
    "--project-directory",
    "--working-directory",
    "--manifest-path",
];

/// Returns the folders that a program works in.
pub(super) fn folders<'a>(name: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    if matches!(name, "cd" | "pushd") {
        return arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
    }
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        if OPTIONS.contains(word) {
            found.extend(arguments.get(at + 1).copied());
        }
        if let Some((option, value)) = word.split_once('=').filter(|_| word.starts_with('-'))
            && OPTIONS.contains(&option)
        {
            found.push(value);
        }
        if let Some(value) = word.strip_prefix("-C").filter(|value| !value.is_empty()) {
            found.push(value);
        }
        if name == "terraform" || name == "tofu" {
            found.extend(word.strip_prefix("-chdir="));
        }
    }
    found
}
