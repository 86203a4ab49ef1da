// Package ringtest repeats a test in processes whose system refuses a call of io_uring, as an old kernel, a container's
// filter or a limit does. TestMain of the package calls Main first; one test calls Refuse, and skips in the process
// that it runs in by Refused.
package ringtest
