# Lists what there is.
default:
    @just --list

# Exactly what CI runs.
check:
    cargo xtask ci

# All tests, with their set-up.
test *ARGS:
    cargo xtask test -- {{ARGS}}

# Side by side with ripgrep, fd, sed and ls.
bench *NAMES:
    cargo xtask bench {{NAMES}}
