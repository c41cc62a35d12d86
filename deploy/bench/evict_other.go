//go:build !linux

package main

import "errors"

func evict([]file) error { return errors.ErrUnsupported }
