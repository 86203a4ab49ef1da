//go:build !(linux && cgo && (amd64 || arm64))

package bridgetest

import (
	"errors"

	"github.com/anekit/anekit/internal/host"
)

const onlyLinux = "the stand-ins run in Linux binaries for amd64 and arm64 built with CGO_ENABLED=1, not in this one " +
	"for " +
	host.Platform

func missing(string) string { return onlyLinux }

// Sanitizer returns the reason why there is no AddressSanitizer for the bridge here.
func Sanitizer() (path, reason string) { return "", onlyLinux }

func cached(string, variant) (string, error) { return "", errors.New(onlyLinux) }
