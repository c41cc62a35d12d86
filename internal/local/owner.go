package local

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user that a server runs as.
type owner struct{ uid, gid int }

var errNoUser = errors.New(
	"run as root, but neither postgres, nobody nor daemon is a user here: a private server needs an unprivileged one")

// unprivilegedUser returns the user for root's servers. The user must have a name, because initdb requires one.
func unprivilegedUser() (*owner, error) {
	for _, name := range []string{"postgres", "nobody", "daemon"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}

		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if errors.Join(err1, err2) == nil && uid != 0 {
			return &owner{uid, gid}, nil
		}
	}

	return nil, errNoUser
}

func ownerOf(path string) (*owner, error) {
	fi, err := os.Stat(path) //nolint:gosec // written by us into a home that others cannot write
	if err != nil {
		return nil, err
	}

	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.ErrUnsupported
	}

	return &owner{int(st.Uid), int(st.Gid)}, nil
}

func (u *owner) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)}
}
