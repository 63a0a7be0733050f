//! Ordinary work in a confined workspace.

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::Status;

use crate::support::Host;

#[tokio::test]
async fn reads_and_writes_where_it_may() {
    let host = Host::new();
    let line = "id -u; echo a > file && cat file; echo t > /tmp/t && cat /tmp/t; \
                echo $TMPDIR; ls /dev; ls -a /tmp; cat /proc/self/mountinfo | wc -l; ps ax | wc -l; echo x > /dev/null; \
                touch /usr/x /etc/x /x; exit 0";
    for profile in [Sandbox::ReadOnly, Sandbox::WorkspaceWrite] {
        let done = host.run(profile, line).await;
        println!("{}{}", done.stdout, done.stderr);
        assert_eq!(done.ended.status, Status::Exit(0));
    }
}
