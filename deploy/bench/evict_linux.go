package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// evict removes the pages of files that are on disk from the system's memory, as those of old files are.
func evict(files []file) error {
	for _, f := range files {
		opened, err := os.Open(f.path)
		if err != nil {
			return err
		}
		err = unix.Fadvise(int(opened.Fd()), 0, 0, unix.FADV_DONTNEED)
		if err := errors.Join(err, opened.Close()); err != nil {
			return err
		}
	}
	return nil
}
