// Package pages makes large arrays for random access, in huge pages where the system allows.
package pages
