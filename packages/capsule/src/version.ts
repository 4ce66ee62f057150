/** Version of this build, told to the other side in the handshake; equal to the package's version. */
export const CAPSULE_VERSION = '0.1.0';
