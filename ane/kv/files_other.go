//go:build !linux

package kv

import "os"

func readable(f *os.File) file { return f }
