// How the lines of a chart differ: by colour and by dash. No two of the first 25 look alike. Pure.
export const kLooks = 5;  // colours, and dashes

export const lineLook = (index: number): {colour: number; dash: number} => ({colour: index % kLooks, dash: (index + Math.floor(index / kLooks)) % kLooks});
