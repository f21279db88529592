// Package pages makes large arrays for random access, in huge pages where the system allows, and memory in pages of its own.
package pages
