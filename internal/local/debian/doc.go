// Package debian fetches Postgres and Redis from the package sources of a Debian or Ubuntu machine. It needs no root
// and installs nothing: apt resolves and downloads the packages, and dpkg-deb unpacks them into a directory of the
// caller.
//
// # Trust
//
// The machine's own sources, keys, proxies and settings apply. apt verifies the signatures of the lists and the hashes
// of the packages, and an unauthenticated package is refused.
//
// # What is unpacked
//
// A tree has the packages of one program and those dependencies that the machine lacks. Debian's Postgres computes its
// directories from the place of its binaries, so a tree works at any path. Four kinds of packages are left out:
// packages without machine code, Perl, files for development, and the compiler of just-in-time compilation, which makes
// a tree several times as large. The module that loads the compiler is removed, and Postgres runs without it.
//
// # Interruptions
//
// A tree appears complete or not at all, by a rename. One process works in a directory at a time. It holds a lock that
// apt and dpkg-deb inherit, so a later process waits until the last of them has ended, and then removes what they left.
// Each run of apt is bounded in time.
package debian
