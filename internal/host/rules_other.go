//go:build !linux && !darwin

package host

const linux, mac = false, false
