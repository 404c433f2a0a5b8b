# Cross-compiles for Debian 12 on arm64, with its package g++-aarch64-linux-gnu. The libraries are those of the
# architecture arm64 in the same root: cmake/arm64.sh has one, and so has a Debian with "dpkg --add-architecture arm64".
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triplet aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${triplet}/pkgconfig:/usr/share/pkgconfig)
