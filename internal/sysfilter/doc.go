// Package sysfilter makes system calls of a test process fail, as an old kernel or a container does.
package sysfilter
