//! Programs that tell about the machine, the user or the time.

use super::arguments::Arguments;
use super::program::Operands::{Nothing, Texts};
use super::program::Program;

/// The longest pause that counts as harmless, in seconds.
const LONGEST_SLEEP: u32 = 60;

/// One row for each program.
pub(crate) const SYSTEM: &[Program] = &[
    Program::new("true false :", Texts),
    Program::new("pwd", Nothing).flags(&["-L -P"]),
    Program::new("which", Texts).flags(&["-a -s"]),
    Program::new("type", Texts).flags(&["-a -f -p -P -t"]).options_first(),
    // Without `-v` or `-V` it runs what it is given.
    Program::new("command", Texts).flags(&["-v -V"]).options_first().no_clusters().check(only_asks),
    // `-s` sets the clock, and so does an operand without `+`; `-f` reads dates from a file.
    Program::new("date", Texts)
        .flags(&["-R -u --debug --rfc-email --utc --universal"])
        .attached(&["-I --iso-8601"])
        .texts(&["-d --date --rfc-3339"])
        .files("-r --reference")
        .check(only_formats),
    Program::new("whoami logname arch", Nothing),
    Program::new("id", Texts)
        .flags(&["-a -g -G -n -r -u -z -Z --context --group --groups --name --real --user --zero"]),
    Program::new("groups", Texts),
    Program::new("uname", Nothing).flags(&[
        "-a -i -m -n -o -p -r -s -v --all --hardware-platform --kernel-name --kernel-release",
        "--kernel-version --machine --nodename --operating-system --processor",
    ]),
    // An operand sets the name; `-f`, `-d` and `-i` ask the network.
    Program::new("hostname", Nothing).flags(&["-s -I --short --all-ip-addresses"]),
    Program::new("nproc", Nothing).flags(&["--all"]).texts(&["--ignore"]),
    Program::new("uptime", Nothing).flags(&["-p -s --pretty --since"]),
    Program::new("tty", Nothing).flags(&["-s --quiet --silent"]),
    Program::new("sleep", Texts).check(short_pause),
    Program::new("free", Nothing).flags(&["-b -g -h -k -l -m -t -w --human --total --wide"]),
];

fn only_asks(arguments: &Arguments) -> Result<(), String> {
    if arguments.has("-v -V") { Ok(()) } else { Err("it runs another command".into()) }
}

fn only_formats(arguments: &Arguments) -> Result<(), String> {
    if !arguments.operands.iter().all(|operand| operand.text.starts_with('+')) {
        return Err("it may set the clock".into());
    }
    if arguments.values("-d --date").any(|date| date.contains("TZ")) {
        return Err("a time zone may name a file".into());
    }
    Ok(())
}

fn short_pause(arguments: &Arguments) -> Result<(), String> {
    let [pause] = arguments.operands.as_slice() else {
        return Err("it may wait for long".into());
    };
    let seconds = pause.text.strip_suffix('s').unwrap_or(&pause.text);
    let whole = seconds.split_once('.').map_or(seconds, |(whole, _)| whole);
    let plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match whole.parse::<u32>() {
        Ok(whole) if plain && whole <= LONGEST_SLEEP => Ok(()),
        _ => Err("it may wait for long".into()),
    }
}
