export * from './connect.ts';
export * from './connection.ts';
export * from './state-files.ts';
export * from './trusted-socket.ts';
